/** The one door out: every call leaves one settlement and one observation. */
import type { Charge } from '../ports/journal.ts'
import type { Answer, VerbatimAnswer, WholeAnswer } from './reply/answer.ts'
import { columnOf } from './caller.ts'
import type { Caller } from './caller.ts'
import type { Trail } from './node/attempts.ts'
import type { Context } from './context.ts'
import type { Observation, OutcomeKind } from '../ports/observer.ts'
import { statusOf } from '../refusal/refusal.ts'
import { refusalTable } from '../refusal/table.ts'
import type { Reason } from '../refusal/table.ts'
import type { Network, Rule } from '../snapshot/types.ts'

/** What is known of a call while it runs. */
export interface Running extends Trail {
  /** Null for a method that no rule has, and for management. */
  rule: Rule | null
  /** What was committed; null where nothing is charged: refusals, management, the public route. */
  charge: Charge | null
  upstreamMs: number
  /** When the call was begun, by the monotonic clock. */
  readonly begin: number
}
/** How a call's reply left. */
export interface Sent {
  readonly bytesOut: number
  /** The reply broke off before its end. */
  readonly cut: boolean
  /** That was the node's doing, and counts as its error. */
  readonly cutByNode?: boolean
  /** What was said in place of the answer, for which there was no room. */
  readonly instead?: WholeAnswer
  /** When the call was over, where its reply went on for longer than calls take. */
  readonly endedAt?: number
  /** Milliseconds of the reply that were its upstream's. */
  readonly upstreamMs?: number
}
/** Settles and observes a call whose reply has left. */
export function settle(
  given: Answer | VerbatimAnswer,
  { rule, charge, route, cache, shared, upstreamMs: untilReply, begin, trace }: Running,
  { bytesOut, cut, cutByNode, instead, endedAt, upstreamMs: whileSent = 0 }: Sent,
  { network, plan, transport, payer, visitor }: Caller,
  { live, requestId }: Context,
): void {
  const answer = instead ?? given
  if (answer.kind === 'result') answer.delivered?.(true)
  const outcome = outcomeOf(answer, cut)
  const method = rule?.match ?? 'other'
  const upstreamMs = untilReply + whileSent
  const error = outcome === 'error' || cutByNode === true
  charge?.settle({ error, bytesOut, upstreamMs })
  const reason = answer.kind === 'refused' ? answer.refusal.reason : null
  if (payer !== null && reason !== null) live.journal.refused(payer, method, reason, live.clock.now())
  const totalMs = (endedAt ?? live.clock.monotonic()) - begin
  const requests = charge === null ? 0 : charge.units
  const status = statusOfAnswer(answer, network)
  const isFault = trace !== null && (cutByNode === true || isOurFault(reason, status))
  // One literal: spread objects would cost as much as all the rest of a refused call.
  const seen: Observation = {
    requestId,
    account: payer === null ? null : payer.account.id,
    endpoint: payer === null ? null : payer.endpoint.id,
    network: network.slug,
    method,
    route,
    status,
    plan: plan.name,
    transport,
    address: visitor.address,
    rowClass: rule?.answer === null && cache !== 'hit' ? rule.timeout : 'none',
    outcome,
    cache,
    shared,
    upstreamMs,
    reason,
    requests,
    totalMs,
    traceId: trace === null ? null : trace.settle(isFault, totalMs),
  }
  live.observer.call(seen)
  if (trace !== null) trace.export(seen)
}

/** Whether a call failed for a fault of ours or of its upstream. A refusal has the status that it would have on a network of JSON-RPC. */
function isOurFault(reason: Reason | null, status: number): boolean {
  return (reason === null ? status : refusalTable[reason].status) >= 500
}

function statusOfAnswer(answer: Answer | VerbatimAnswer, network: Network): number {
  if (answer.kind === 'refused') return statusOf(answer.refusal, columnOf(network))
  if (answer.kind === 'verbatim') return answer.status
  return answer.kind === 'abandoned' ? CLIENT_LEFT : 200
}

/** As nginx logs it: nobody was there to be answered. */
const CLIENT_LEFT = 499

function outcomeOf(answer: Answer | VerbatimAnswer, cut: boolean): OutcomeKind {
  if (cut || answer.kind === 'abandoned') return 'failed'
  if (answer.kind === 'refused') return answer.refusal.reason === 'internal' ? 'failed' : 'refused'
  if (answer.kind === 'verbatim') return answer.status < 400 ? 'ok' : 'error'
  return answer.kind === 'error' || (answer.kind === 'stream' && answer.member === 'error') ? 'error' : 'ok'
}
