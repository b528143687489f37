/** What is observed: each call when it is over, each attempt, each notification. Metrics and log decide what to show of it. */
import type { Reason } from '../refusal/table.ts'

/** ok: a result; error: the node's own error; refused: ours; failed: an internal error, or cut while it streamed. */
export type OutcomeKind = 'ok' | 'error' | 'refused' | 'failed'

/** One call. Every string in it comes from the snapshot or from us, never from the client. */
export interface Observation {
  readonly network: string
  /** The rule's name; `other` for a method that no rule has. */
  readonly method: string
  readonly plan: string
  readonly transport: 'http' | 'ws'
  /** How long the operator expects an attempt to take (`timeout` of its row); `none` where no node is asked. */
  readonly rowClass: 'fast' | 'normal' | 'heavy' | 'none'
  readonly outcome: OutcomeKind
  readonly reason: Reason | null
  /** Requests charged. */
  readonly requests: number
  /** Milliseconds from admission to the reply, and how much of that was spent on upstreams. */
  readonly totalMs: number
  readonly upstreamMs: number
}

/** One attempt at one route. */
export interface AttemptObservation {
  readonly network: string
  readonly route: string
  /** The rule's name. */
  readonly method: string
  /** `ok`, `error`, or the kind of the failure. */
  readonly result: string
  readonly ms: number
}

/** One message of a subscription that went to a client. */
export interface NotificationObservation {
  readonly network: string
  readonly plan: string
  /** Requests charged. */
  readonly requests: number
}

/** Whose a refused message is, by names of the snapshot; empty where that is not known. */
export interface Sender {
  readonly network: string
  readonly plan: string
}

/** Where observations go. */
export interface Observer {
  call(observation: Observation): void
  attempt(observation: AttemptObservation): void
  notification(observation: NotificationObservation): void
  /** A message refused before any call in it was read; by whom it was sent where that is known. */
  refused(reason: Reason, sender?: Sender): void
  /** A bug: something threw that should not have. */
  bug(error: unknown, requestId: string): void
}
