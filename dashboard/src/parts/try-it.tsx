import { useState } from 'preact/hooks'
import { sentence } from '../api/failure.ts'
import type { Endpoint } from '../api/types.ts'
import { endpoints, reveal } from '../model/account.ts'
import { bodyOf, METHODS, tryCall } from '../model/try-call.ts'
import type { Tried } from '../model/try-call.ts'
import { count } from '../text/figure.ts'
import { mask } from '../text/mask.ts'

interface Props {
  readonly endpoint: Endpoint
  readonly family: 'evm' | 'solana' | 'jsonrpc'
}

/** A real call with the endpoint's key, and everything that came of it. */
export function TryIt({ endpoint, family }: Props) {
  const [method, setMethod] = useState(METHODS[family][0])
  const [params, setParams] = useState('[]')
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState('')
  const [tried, setTried] = useState<Tried | null>(null)
  const send = async (event: Event): Promise<void> => {
    event.preventDefault()
    setBusy(true)
    setProblem('')
    try {
      const body = bodyOf(method, params)
      const { apiKey } = await reveal(endpoint.endpointId)
      setTried(await tryCall(endpoint.chain, apiKey, body))
      void endpoints.load()
    } catch (error) {
      setProblem(sentence(error))
    }
    setBusy(false)
  }
  return (
    <section class="card">
      <h2>Try it</h2>
      <form class="try" onSubmit={event => void send(event)}>
        <label>
          Method
          <input
            list="try-methods"
            spellcheck={false}
            autoComplete="off"
            required
            value={method}
            onInput={event => setMethod(event.currentTarget.value)}
          />
          <datalist id="try-methods">
            {METHODS[family].map(method => (
              <option key={method} value={method} />
            ))}
          </datalist>
        </label>
        <label>
          Params <small>JSON</small>
          <input
            spellcheck={false}
            autoComplete="off"
            value={params}
            onInput={event => setParams(event.currentTarget.value)}
          />
        </label>
        <button type="submit" disabled={busy} aria-busy={busy}>
          Send
        </button>
      </form>
      <p class="quiet-text">A real call with this endpoint's key: it counts as usage.</p>
      {problem !== '' && (
        <p class="notice bad" role="alert">
          {problem}
        </p>
      )}
      {tried !== null && <Outcome {...tried} endpoint={endpoint} />}
    </section>
  )
}

function Outcome({ body, status, ms, reply, cut, endpoint }: Tried & { endpoint: Endpoint }) {
  const path = `/${endpoint.chain}/v1/rpc/${mask(endpoint)}`
  return (
    <div class="tried" role="status">
      <p class="facts">
        <strong>{`HTTP ${status}`}</strong>
        <span>{ms} ms</span>
        {cut > 0 && <span>{count(cut, 'more character')} not shown</span>}
      </p>
      <h3>Request</h3>
      <pre tabIndex={0} aria-label="Request">
        <code>{`POST ${path}\n\n${body}`}</code>
      </pre>
      <h3>Reply</h3>
      <pre tabIndex={0} aria-label="Reply">
        <code>{reply}</code>
      </pre>
    </div>
  )
}
