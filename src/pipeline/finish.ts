/** The one door out: every call leaves one outcome, one settlement, one observation. */
import { refusalTable } from '../jsonrpc/refusal-table.ts'
import { refuse } from '../jsonrpc/refusal.ts'
import type { OutcomeKind } from '../observe/observation.ts'
import { refused } from './answer.ts'
import type { Answer, VerbatimAnswer, WholeAnswer } from './answer.ts'
import type { Admission } from '../usage/meter.ts'
import type { Caller } from './caller.ts'
import type { Context } from './context.ts'
import type { Passed } from './line.ts'
import { then } from './soon.ts'
import type { Soon } from './soon.ts'

/** How a call's reply left. */
export interface Delivered {
  readonly bytesOut: number
  /** The reply broke off before its end. */
  readonly cut: boolean
  /** That was the node's doing, and counts as its error. */
  readonly cutByNode?: boolean
  /** Milliseconds since the call was begun. */
  readonly totalMs: number
}

/**
 * Makes sure that the charge is on disk, or that there is none, and goes on to `next`: then the reply may leave. A call that is refused
 * gives back what it took; one that cannot be recorded is refused.
 */
export function seal<A extends Answer | VerbatimAnswer, R>(
  passed: Passed<A>,
  caller: Caller,
  context: Context,
  next: (passed: Passed<A | WholeAnswer>) => Soon<R>,
): Soon<R> {
  const { answer, admission, publicCost } = passed
  const { live } = context
  if (answer.kind === 'refused' && !refusalTable[answer.refusal.reason].billed) {
    if (publicCost > 0) live.publicMeter.giveBack(caller.plan.rate, caller.address, publicCost)
    return admission === null ? next(passed) : unadmitted(passed, admission, context).then(next)
  }
  if (admission === null) return next(passed)
  return then(live.meter.committed(admission), committed =>
    committed ? next(passed) : unrecorded(passed, admission, context).then(next),
  )
}

async function unadmitted<A>(passed: Passed<A>, admission: Admission, { live }: Context): Promise<Passed<A>> {
  await live.meter.giveBack(admission)
  return { ...passed, admission: null, publicCost: 0 }
}

async function unrecorded<A extends Answer | VerbatimAnswer>(
  passed: Passed<A>,
  admission: Admission,
  { live }: Context,
): Promise<Passed<WholeAnswer>> {
  const { answer } = passed
  await live.meter.giveBack(admission)
  if (answer.kind === 'stream' || answer.kind === 'verbatim') answer.body.destroy()
  if (answer.kind === 'result') answer.delivered?.(false)
  return { ...passed, answer: refused(refuse('journal_unavailable')), admission: null }
}

/** Settles and observes a call whose reply has left. */
export function finish(
  passed: Passed<Answer | VerbatimAnswer>,
  caller: Caller,
  delivered: Delivered,
  { live }: Context,
): void {
  const { answer, admission, rule, upstreamMs } = passed
  const { network, plan, transport, payer } = caller
  if (answer.kind === 'result') answer.delivered?.(true)
  const outcome = outcomeOf(passed, delivered)
  const method = rule?.match ?? 'other'
  const error = outcome === 'error' || delivered.cutByNode === true
  if (admission !== null) live.meter.settle(admission, { error, bytesOut: delivered.bytesOut, upstreamMs })
  if (payer !== null && answer.kind === 'refused')
    live.meter.refused(payer, method, answer.refusal.reason, live.now())
  live.observer.call({
    network: network.slug,
    method,
    plan: plan.name,
    transport,
    outcome,
    upstreamMs,
    reason: answer.kind === 'refused' ? answer.refusal.reason : null,
    requests: admission?.cost ?? 0,
    totalMs: delivered.totalMs,
  })
}

function outcomeOf({ answer }: Passed<Answer | VerbatimAnswer>, { cut }: Delivered): OutcomeKind {
  if (cut || answer.kind === 'abandoned') return 'failed'
  if (answer.kind === 'refused') return answer.refusal.reason === 'internal' ? 'failed' : 'refused'
  if (answer.kind === 'verbatim') return answer.status < 400 ? 'ok' : 'error'
  return answer.kind === 'error' || (answer.kind === 'stream' && answer.member === 'error') ? 'error' : 'ok'
}
