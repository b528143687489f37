/** Traces, as a call sees them: what is recorded of it while it runs, and made into spans when it is over. */
import type { TracingConfig } from '../config/observing/types.ts'
import type { Observation } from './observer.ts'

/** The trace that a client says its request belongs to. */
export interface ClientTrace {
  /** The header as it came (W3C Trace Context). */
  readonly traceparent: string
  /** Whether our spans go into that trace, and its sampled flag decides whether there are any. */
  readonly isBelieved: boolean
}

/** Why an attempt was made: a retry follows one that failed, a hedge runs beside a slow one, a broadcast beside others. */
export type AttemptKind = 'first' | 'retry' | 'hedge' | 'broadcast'

/** One attempt at a route. */
export interface AttemptRecord {
  /** What its node is told of the trace. */
  readonly traceparent: string
  /** It has ended now, at times after its call; `result` is as it is observed. */
  ended(result: string): void
}

/** One call. */
export interface CallRecord {
  /** It was let in, or refused by a limit, now. */
  admitted(): void
  /** Its charge was committed now, after a wait since `from`, by the monotonic clock. */
  committed(from: number): void
  /** An attempt begins now. */
  attempt(route: string, kind: AttemptKind): AttemptRecord
  /** Decides at its end whether there are spans of it: the id of its trace, or null. `isFault`: it failed for a fault of ours or of an upstream. */
  settle(isFault: boolean, ms: number): string | null
  /** Makes the spans of a call that has been settled so. */
  export(seen: Observation): void
}

/** A message, whose calls have one trace. */
export interface MessageRecord {
  /** Makes the span of a batch that began at `begin` by the monotonic clock, where there are spans of some of its calls. */
  exportBatch(begin: number, size: number): void
}

/** Where a message keeps its trace: made with the first of its calls that needs one. */
export interface TracedMessage {
  trace: MessageRecord | null
  readonly requestId: string
}

/** Whose message it is. */
export interface TracedCaller {
  readonly network: { readonly slug: string }
  readonly plan: { readonly name: string }
  readonly payer: {
    readonly account: { readonly id: string }
    readonly endpoint: { readonly id: string }
  } | null
  readonly transport: 'http' | 'ws'
  /** Absent where its client says nothing of a trace. */
  readonly trace?: ClientTrace | undefined
}

/** Records calls. It is asked only where the configuration has `tracing`. */
export interface Tracing {
  /** A call begins at `begin` by the monotonic clock, at `index` of its batch; null where nothing of it is recorded. */
  begin(message: TracedMessage, caller: TracedCaller, begin: number, index: number | null): CallRecord | null
  /** What a node is told of a trace of which nothing is recorded; null where there is none. */
  unrecorded(message: TracedMessage, caller: TracedCaller): string | null
  /** Goes by another configuration from now on; resolves when it can. */
  follow(config: TracingConfig | null): Promise<void>
}
