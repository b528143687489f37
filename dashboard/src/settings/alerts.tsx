import { useState } from 'preact/hooks'
import { sentence } from '../api/failure.ts'
import type { Alerts } from '../api/types.ts'
import { alerts, setWebhook } from '../model/settings.ts'
import { Awaited } from '../parts/awaited.tsx'
import { ShownOnce } from '../parts/shown-once.tsx'
import { say } from '../parts/toast.tsx'
import { share } from '../text/figure.ts'

/** Where events of the account are posted to. */
export function AlertsCard() {
  return (
    <section class="card" aria-labelledby="alerts">
      <h2 id="alerts">Alerts</h2>
      <Awaited of={alerts} what="your alerts">
        {known => <Webhook {...known} />}
      </Awaited>
    </section>
  )
}

function Webhook({ webhook, quota }: Alerts) {
  const [url, setUrl] = useState('')
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState('')
  const [secret, setSecret] = useState<string | null>(null)
  const save = async (wish: string | null): Promise<void> => {
    setBusy(true)
    setProblem('')
    try {
      setSecret(await setWebhook(wish))
      setUrl('')
      say(wish === null ? 'Alerts are off' : 'Alerts are on')
    } catch (error) {
      setProblem(sentence(error))
    }
    setBusy(false)
  }
  const submit = (event: Event): void => {
    event.preventDefault()
    void save(url.trim())
  }
  const parts = quota.map(part => share(part, 1)).join(', ')
  return (
    <>
      <p class="quiet-text">
        The webhook gets a message when {parts === '' ? '' : `${parts} of your quota is used, when `}a key is
        rotated, and when the account is suspended. Messages are signed as the Standard Webhooks specification
        has it.
      </p>
      {secret !== null && (
        <ShownOnce what="Secret of the webhook" secret={secret} onDone={() => setSecret(null)} />
      )}
      <p class="facts">
        <span>
          Now: <strong>{webhook ?? 'off'}</strong>
        </span>
        {webhook !== null && (
          <button type="button" class="quiet small danger" disabled={busy} onClick={() => void save(null)}>
            Turn off
          </button>
        )}
      </p>
      <form class="inline-form" onSubmit={submit}>
        <label>
          {webhook === null ? 'URL' : 'Another URL'}
          <input
            type="url"
            required
            spellcheck={false}
            autoComplete="off"
            placeholder="https://hooks.example.com/x"
            value={url}
            onInput={event => setUrl(event.currentTarget.value)}
          />
        </label>
        <button type="submit" disabled={busy} aria-busy={busy}>
          Save
        </button>
      </form>
      {problem !== '' && (
        <p class="notice bad" role="alert">
          {problem}
        </p>
      )}
    </>
  )
}
