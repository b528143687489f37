/** What is observed: each call when it is over, each attempt, each notification. Metrics and log decide what to show of it. */
import type { Reason } from '../refusal/table.ts'

/** ok: a result; error: the node's own error; refused: ours; failed: an internal error, or cut while it streamed. */
export type OutcomeKind = 'ok' | 'error' | 'refused' | 'failed'

/** Whose a message is. Null where no key is known: on the public route, and with a key that nobody has. */
export interface Whose {
  /** What its sender was told in `X-Request-Id` and in refusals. */
  readonly requestId: string
  readonly account: string | null
  readonly endpoint: string | null
}

/** One call. Every string in it comes from the snapshot or from us, never from the client, but for its address. */
export interface Observation extends Whose {
  readonly network: string
  /** The rule's name; `other` for a method that no rule has. */
  readonly method: string
  readonly plan: string
  readonly transport: 'http' | 'ws'
  /** Of the client; for the access log alone. */
  readonly address: string
  /** How long the operator expects an attempt to take (`timeout` of its row); `none` where no node is asked. */
  readonly rowClass: 'fast' | 'normal' | 'heavy' | 'none'
  /** The route that answered, or was tried last; null where no node was asked. */
  readonly route: string | null
  /** The HTTP status of the reply, or what it would be if the call stood alone; 499 where the client left. */
  readonly status: number
  readonly outcome: OutcomeKind
  /** What the cache made of it; null where nothing of its method is kept. */
  readonly cache: 'hit' | 'miss' | 'bypass' | null
  /** Whether it was answered with the answer to an equal call. */
  readonly shared: boolean
  readonly reason: Reason | null
  /** Request units charged. */
  readonly requests: number
  /** Milliseconds from admission to the reply, and how much of that was spent on upstreams. */
  readonly totalMs: number
  readonly upstreamMs: number
  /** The id of its trace, where spans of it are exported. */
  readonly traceId: string | null
}

/** One attempt at one route. */
export interface AttemptObservation extends Whose {
  readonly network: string
  readonly route: string
  /** The rule's name. */
  readonly method: string
  /** `ok`, `error`, or the kind of the failure. */
  readonly result: string
  readonly ms: number
}

/** What the cache has made of the answer of a route. */
export interface CacheObservation {
  readonly network: string
  /** The rule's name. */
  readonly method: string
  readonly route: string
  /** `mismatch`: it shows another block than was asked for, and is not kept. */
  readonly event: 'kept' | 'mismatch'
}

/** One message of a subscription that went to a client. */
export interface NotificationObservation {
  readonly network: string
  readonly plan: string
  /** Request units charged. */
  readonly requests: number
}

/** A message that was refused before any call in it was read; names of the snapshot are empty where they are not known. */
export interface RefusedMessage extends Whose {
  readonly network: string
  readonly plan: string
  /** Of the client; null where the head of its request could not be read, or the log does not want it. */
  readonly address: string | null
  readonly status: number
  readonly reason: Reason
}

/** Where observations go. */
export interface Observer {
  call(observation: Observation): void
  attempt(observation: AttemptObservation): void
  cached(seen: CacheObservation): void
  notification(observation: NotificationObservation): void
  refused(seen: RefusedMessage): void
  /** A bug: something threw that should not have. */
  bug(error: unknown, requestId: string): void
}
