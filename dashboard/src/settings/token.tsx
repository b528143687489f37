import { useState } from 'preact/hooks'
import { replaceToken } from '../api/session.ts'
import { provider } from '../brand.ts'
import { Dialog } from '../parts/dialog.tsx'
import { ShownOnce } from '../parts/shown-once.tsx'

/** The dashboard token, and a new one in its place. */
export function TokenCard() {
  const [asking, setAsking] = useState(false)
  const [made, setMade] = useState<string | null>(null)
  return (
    <section class="card" aria-labelledby="token">
      <div class="card-head">
        <h2 id="token">Dashboard token</h2>
        <button type="button" class="quiet small" onClick={() => setAsking(true)}>
          Replace
        </button>
      </div>
      {made !== null && <ShownOnce what="New dashboard token" secret={made} onDone={() => setMade(null)} />}
      <p class="quiet-text">
        It signs you in here. A new one ends every other session of the account; API keys go on. If you lose
        it, {provider} can make another one.
      </p>
      {asking && <ReplaceDialog onMade={setMade} onClose={() => setAsking(false)} />}
    </section>
  )
}

function ReplaceDialog({ onMade, onClose }: { onMade: (token: string) => void; onClose: () => void }) {
  const [token, setToken] = useState('')
  const replace = async (): Promise<void> => onMade(await replaceToken(token.trim()))
  return (
    <Dialog
      title="Replace the dashboard token"
      action="Replace"
      danger
      ready={token.trim() !== ''}
      onSubmit={replace}
      onClose={onClose}
    >
      <p>The present token stops working at once, and everybody else who is signed in is signed out.</p>
      <label>
        Present token
        <input
          type="password"
          autoComplete="current-password"
          spellcheck={false}
          placeholder="tgd_…"
          value={token}
          onInput={event => setToken(event.currentTarget.value)}
        />
      </label>
    </Dialog>
  )
}
