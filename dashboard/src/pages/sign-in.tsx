import { useState } from 'preact/hooks'
import { sentence } from '../api/failure.ts'
import { ended, signIn } from '../api/session.ts'
import { operator } from '../brand.ts'
import { Brand, Links } from '../parts/brand.tsx'

/** Where everybody starts: one secret, the dashboard token or an API key. */
export function SignInPage() {
  const [secret, setSecret] = useState('')
  const [problem, setProblem] = useState('')
  const [busy, setBusy] = useState(false)
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault()
    setBusy(true)
    setProblem('')
    try {
      await signIn(secret)
    } catch (error) {
      setProblem(sentence(error))
      setBusy(false)
    }
  }
  const notice = problem === '' ? ended.value : problem
  return (
    <main class="sign-in">
      <h1>
        <Brand />
      </h1>
      <form class="card" onSubmit={event => void submit(event)}>
        <label>
          Dashboard token or API key
          <input
            type="password"
            name="secret"
            autoComplete="current-password"
            spellcheck={false}
            placeholder="tgd_… or tg_…"
            required
            autoFocus
            aria-describedby="sign-in-help"
            aria-invalid={problem === '' ? undefined : true}
            value={secret}
            onInput={event => setSecret(event.currentTarget.value)}
          />
        </label>
        {notice !== '' && (
          <p class="notice bad" role="alert">
            {notice}
          </p>
        )}
        <button type="submit" aria-busy={busy} disabled={busy}>
          Sign in
        </button>
        <p class="quiet-text" id="sign-in-help">
          The token was shown when your account was made. Any API key of the account works too, unless
          management is switched off for it. Lost both? {operator} can make a new token.
        </p>
      </form>
      <Links />
    </main>
  )
}
