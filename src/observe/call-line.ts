/** What is written of a call: in the access log, by `tollgate trace`, and where a request is looked up by its id. */
import type { AttemptObservation, Observation, RefusedMessage } from '../ports/observer.ts'

/** One line, to be written as JSON. No key, URL, body or client-chosen name is in it. */
export interface CallLine {
  readonly time: string
  /** `refusal` is of a message that was refused before any call in it was read. */
  readonly msg: 'call' | 'attempt' | 'refusal'
  readonly requestId: string
  readonly account: string | null
  readonly endpoint: string | null
  readonly network: string
  /** The rule's name; null of a message. */
  readonly method: string | null
  readonly route: string | null
  /** Absent from attempts. */
  readonly status?: number
  readonly reason?: string | null
  readonly outcome?: Observation['outcome']
  /** Of an attempt: `ok`, `error`, or the kind of the failure. */
  readonly result?: string
  readonly plan?: string
  readonly transport?: Observation['transport']
  /** Of the client, or its network; only in an access log that is configured to have it. */
  readonly address?: string
  /** Request units that were charged. */
  readonly requests?: number
  /** What the cache made of it, where answers of its method are kept. */
  readonly cache?: NonNullable<Observation['cache']>
  /** Only where it was answered with the answer to an equal call. */
  readonly shared?: true
  /** Milliseconds until the reply; of a message, absent. */
  readonly ms?: number
  readonly upstreamMs?: number
  /** Only where spans of it were exported. */
  readonly traceId?: string
}

type Whose = 'requestId' | 'account' | 'endpoint' | 'network' | 'method'

/** The line of a call. */
export function callLine(seen: Observation, at: number): CallLine {
  const { route, status, reason, outcome, plan, transport, requests, totalMs, upstreamMs } = seen
  return {
    ...beginning('call', seen, at),
    route,
    status,
    reason,
    outcome,
    plan,
    transport,
    requests,
    ...(seen.cache === null ? {} : { cache: seen.cache }),
    ...(seen.shared ? { shared: true } : {}),
    ms: rounded(totalMs),
    upstreamMs: rounded(upstreamMs),
    ...(seen.traceId === null ? {} : { traceId: seen.traceId }),
  }
}

/** The line of a message that was refused before any call in it was read. */
export function refusalLine(seen: RefusedMessage, at: number): CallLine {
  const { plan, status, reason } = seen
  return {
    ...beginning('refusal', { ...seen, method: null }, at),
    route: null,
    status,
    reason,
    outcome: 'refused',
    plan,
  }
}

/** The line of one attempt at a route. */
export function attemptLine(seen: AttemptObservation, at: number): CallLine {
  const { route, result, ms } = seen
  return { ...beginning('attempt', seen, at), route, result, ms: rounded(ms) }
}

/** What every line begins with: when, what, and whose. */
function beginning(
  msg: CallLine['msg'],
  { requestId, account, endpoint, network, method }: Pick<CallLine, Whose>,
  at: number,
): Pick<CallLine, 'time' | 'msg' | Whose> {
  return { time: new Date(at).toISOString(), msg, requestId, account, endpoint, network, method }
}

function rounded(ms: number): number {
  return Math.round(ms * 100) / 100
}
