import { brand, gateway } from '../brand.ts'
import { problemOf, problemsOf } from '../text/problems.ts'

/** Who runs the gateway can look whether it does. */
const UNREACHABLE = `${gateway} cannot be reached. ${brand.name === null ? 'Is it running, and are' : 'Are'} you online?`

/** Something that the gateway refused, in words for the owner. */
export class Failure extends Error {
  constructor(
    message: string,
    /** `data.reason` of the refusal; `unreachable` when there was no reply. */
    readonly reason: string,
    readonly retryAfterMs = 0,
    /** `data.why` of the refusal. */
    readonly why = '',
  ) {
    super(message)
  }
}

interface Refused {
  readonly message: string
  readonly data?: {
    readonly reason?: string
    readonly why?: string
    /** Where several members of the parameters are wrong. */
    readonly wrong?: readonly { readonly why: string }[]
    readonly retryAfterMs?: number
  }
}

/** Sends a request to the gateway and reads its JSON reply; rejects with a Failure. */
export async function ask(path: string, method: string, body?: unknown): Promise<unknown> {
  const headers = { 'content-type': 'application/json' }
  const init = method === 'GET' ? {} : { headers, body: JSON.stringify(body ?? {}) }
  const reply = await fetch(path, { method, ...init }).catch(() => {
    throw new Failure(UNREACHABLE, 'unreachable')
  })
  const json = (await reply.json().catch(() => ({}))) as { error?: Refused }
  if (json.error === undefined && reply.ok) return json
  const { message, data } = json.error ?? { message: `${gateway} answered with status ${reply.status}` }
  const reason = data?.reason ?? 'unknown'
  const said = data?.wrong === undefined ? problemOf(reason, data?.why) : problemsOf(data.wrong)
  throw new Failure(said ?? message, reason, data?.retryAfterMs, data?.why)
}

/** What to tell of anything that was thrown. */
export function sentence(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const wait = error instanceof Failure ? Math.ceil(error.retryAfterMs / 1000) : 0
  return wait === 0 ? error.message : `${error.message}. Try again in ${wait} s.`
}
