import { useEffect, useState } from 'preact/hooks'
import { sentence } from '../api/failure.ts'
import type { Endpoint } from '../api/types.ts'
import { endpoints, reveal } from '../model/account.ts'
import { keepFresh } from '../model/fresh.ts'
import { findMethod, methodsOf, whyNot } from '../model/methods.ts'
import { bodyOf, FIRST, tryCall } from '../model/try-call.ts'
import type { Tried } from '../model/try-call.ts'
import { route } from '../route.ts'
import { count } from '../text/figure.ts'
import { maskUrl } from '../text/mask.ts'
import { pretty } from '../text/pretty.ts'
import { templateOf } from '../text/templates.ts'
import { CopyButton } from './copy-button.tsx'

interface Props {
  readonly endpoint: Endpoint
  readonly family: keyof typeof FIRST
}

/** A real call with the endpoint's key, and everything that came of it. */
export function TryIt({ endpoint, family }: Props) {
  const refused = whyRefused(endpoint)
  return (
    <section class="card" aria-labelledby="try-it">
      <h2 id="try-it">Try it</h2>
      {refused === '' ? <Call endpoint={endpoint} family={family} /> : <p class="quiet-text">{refused}</p>}
    </section>
  )
}

/** Why a call from this page would be refused; empty where it would not. */
function whyRefused({ status, allowedOrigins }: Endpoint): string {
  if (status === 'inactive') return 'The endpoint is inactive: activate it to try a call.'
  return allowedOrigins === null || allowedOrigins.includes(location.origin)
    ? ''
    : `The key works only from ${allowedOrigins.join(', ')}, and this page is none of them: use a key without allowed origins.`
}

function Call({ endpoint, family }: Props) {
  const methods = methodsOf(endpoint.chain)
  useEffect(() => keepFresh(methods), [methods])
  const [method, setMethod] = useState(route.value.query['method'] ?? FIRST[family])
  const [params, setParams] = useState(templateOf(method))
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState('')
  const [tried, setTried] = useState<Tried | null>(null)
  const known = methods.known.value.value ?? []
  const choose = (next: string): void => {
    // What somebody has typed stays.
    if (params === templateOf(method)) setParams(templateOf(next.trim()))
    setMethod(next)
  }
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
    <>
      <form class="try" onSubmit={event => void send(event)}>
        <label>
          Method
          <input
            list="try-methods"
            spellcheck={false}
            autoComplete="off"
            required
            value={method}
            onInput={event => choose(event.currentTarget.value)}
          />
          <datalist id="try-methods">
            {known
              .filter(one => !one.method.endsWith('*') && whyNot(one, false) === '')
              .map(({ method }) => (
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
      <p class="quiet-text">
        A real call with this endpoint's key: {priceOf(findMethod(known, method.trim()))}.
        {endpoint.allowedIps !== null &&
          ' The key works only from some addresses; yours may be none of them.'}
      </p>
      {problem !== '' && (
        <p class="notice bad" role="alert">
          {problem}
        </p>
      )}
      {tried !== null && <Outcome {...tried} endpoint={endpoint} />}
    </>
  )
}

function priceOf(method: ReturnType<typeof findMethod>): string {
  if (method === null) return 'it counts as usage'
  const why = whyNot(method, false)
  return why === '' ? `it costs ${count(method.cost, 'request unit')}` : `this method is ${why}`
}

function Outcome({ body, status, ms, reply, cut, endpoint }: Tried & { endpoint: Endpoint }) {
  const curl = (url: string): string =>
    `curl -s ${url} \\\n  -H 'content-type: application/json' \\\n  -d '${body.replaceAll("'", `'\\''`)}'`
  return (
    <div class="tried">
      <p class="facts" role="status">
        <strong>{`HTTP ${status}`}</strong>
        <span>{ms} ms</span>
        {cut > 0 && <span>{count(cut, 'more character')} not shown</span>}
        <CopyButton
          what="the call as curl"
          fetchText={async () => curl((await reveal(endpoint.endpointId)).httpsUrl)}
        />
      </p>
      <h3>Request</h3>
      <pre tabIndex={0} aria-label="Request">
        <code>{curl(maskUrl(endpoint.httpsUrl, endpoint))}</code>
      </pre>
      <h3>Reply</h3>
      <pre tabIndex={0} aria-label="Reply">
        <code>{cut > 0 ? reply : pretty(reply)}</code>
      </pre>
    </div>
  )
}
