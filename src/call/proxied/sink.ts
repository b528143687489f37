/** Where a verbatim reply goes: an HTTP reply whose head is the upstream's. */
import type { MaybePromise } from '../../ports/maybe-promise.ts'
import type { Refusal } from '../../refusal/refusal.ts'
import type { ProxiedRequest } from '../../routes/transport/proxy/proxied-request.ts'
import type { VerbatimAnswer } from '../reply/answer.ts'
import type { Sink } from '../reply/sink.ts'

/** The transport's side of a verbatim call. */
export interface VerbatimSink extends Sink {
  /** The client's request, which passes on as it is. */
  readonly proxied: ProxiedRequest
  /** Takes a place for a reply without an end; refuses when the caller holds too many. */
  hold(answer: VerbatimAnswer): MaybePromise<Refusal | null>
  /** Sends the head of the reply. */
  beginVerbatim(answer: VerbatimAnswer): void
  /** Whether we ended the reply, which is then no break of the upstream's. */
  readonly stopped: boolean
}
