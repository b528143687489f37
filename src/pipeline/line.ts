/** The line that every call walks: find → tier → params → admit → able → fulfil. */
import type { Call } from '../jsonrpc/call.ts'
import { isRefusal } from '../jsonrpc/is-refusal.ts'
import { refuse } from '../jsonrpc/refusal.ts'
import type { Refusal } from '../jsonrpc/refusal.ts'
import type { Rule } from '../snapshot/types.ts'
import type { Admission } from '../usage/meter.ts'
import { ableRoutes, needsArchive } from './able.ts'
import { refused } from './answer.ts'
import type { Answer, WholeAnswer } from './answer.ts'
import type { Caller } from './caller.ts'
import type { Context } from './context.ts'
import { checkTier, findRow } from './find.ts'
import type { Decided } from './fulfil.ts'
import { checkParams } from './params.ts'
import { serve } from './service.ts'

/** A call at the end of its line. */
export interface Passed<A = Answer> {
  readonly answer: A
  /** Null for a method that no rule has, and for management. */
  readonly rule: Rule | null
  /** Null where nothing was charged: refusals before admission, management, the public route. */
  readonly admission: Admission | null
  /** What the public route took from the address's bucket. */
  readonly publicCost: number
  readonly upstreamMs: number
}

/** Walks one call down the line; `fulfil` answers it once it was admitted. */
export async function walk<A>(
  call: Call,
  caller: Caller,
  context: Context,
  fulfil: (decided: Decided) => Promise<A>,
): Promise<Passed<A | WholeAnswer>> {
  const { network, plan } = caller
  if (context.live.management.has(call.method))
    return over(await serve(call, caller, context).catch(bug(context)), null)
  const row = findRow(network, call.method, caller.transport)
  if (isRefusal(row)) return over(refused(row), null)
  const { rule } = row
  const tierRefusal = checkTier(row, plan)
  if (tierRefusal !== null) return over(refused(tierRefusal), rule)
  const head = context.live.tips.best(network.slug)
  const maxDepth = context.snapshot.gateway.limits.depth
  const checked = checkParams(rule, network.family, call.params, { maxDepth, head })
  if (isRefusal(checked)) return over(refused(checked), rule)
  const admission = admit(rule, caller, context)
  if (admission !== null && isRefusal(admission)) return over(refused(admission), rule)
  const charge = { rule, admission, publicCost: caller.payer === null ? rule.cost : 0 }
  const routes = ableRoutes(row, needsArchive(row, network, checked.span, head))
  if (isRefusal(routes)) return { ...charge, answer: refused(routes), upstreamMs: 0 }
  const begin = performance.now()
  const decided: Decided = { row, method: call.method, ...checked, routes }
  const answer = await fulfil(decided).catch(bug(context))
  return { ...charge, answer, upstreamMs: rule.answer === null ? performance.now() - begin : 0 }
}

function over(answer: WholeAnswer, rule: Rule | null): Passed<WholeAnswer> {
  return { answer, rule, admission: null, publicCost: 0, upstreamMs: 0 }
}

/** Takes rate, quota and charge; null on the public route, which is charged to nobody. */
function admit(rule: Rule, { payer, plan, address }: Caller, { live }: Context): Admission | Refusal | null {
  if (payer === null) return live.publicMeter.admit(plan.rate, address, rule.cost, live.now())
  return live.meter.admit(payer, rule.match, rule.cost, live.now())
}

/** Whatever throws is a bug of ours: the client gets `internal`, the operator the stack. */
function bug({ live, requestId }: Context): (error: unknown) => WholeAnswer {
  return error => {
    live.observer.bug(error, requestId)
    return refused(refuse('internal'))
  }
}
