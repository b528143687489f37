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
import type { Soon } from './soon.ts'

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
export function walk<A>(
  call: Call,
  caller: Caller,
  context: Context,
  fulfil: (decided: Decided) => Soon<A>,
): Soon<Passed<A | WholeAnswer>> {
  const { network, plan } = caller
  if (context.live.management.has(call.method)) return manage(call, caller, context)
  const row = findRow(network, call.method, caller.transport)
  if (isRefusal(row)) return over(refused(row), null)
  const { rule } = row
  const tierRefusal = checkTier(row, plan)
  if (tierRefusal !== null) return over(refused(tierRefusal), rule)
  const head = context.live.tips.best(network.slug)
  const checked = checkParams(rule, network.family, call.params, {
    maxDepth: context.snapshot.gateway.limits.depth,
    head,
  })
  if (isRefusal(checked)) return over(refused(checked), rule)
  const admission = admit(rule, caller, context)
  if (admission !== null && isRefusal(admission)) return over(refused(admission), rule)
  const publicCost = caller.payer === null ? rule.cost : 0
  const archive = needsArchive(row, network, checked.span, head)
  const firstSlot = (id: string): number | null => context.live.upstreams.get(id)?.firstSlot ?? null
  const routes = ableRoutes(row, archive, checked.span, firstSlot)
  if (isRefusal(routes)) return { answer: refused(routes), rule, admission, publicCost, upstreamMs: 0 }
  const { params, span } = checked
  const decided: Decided = { row, method: call.method, params, span, routes }
  const charge = { rule, admission, publicCost }
  try {
    const answer = fulfil(decided)
    if (answer instanceof Promise) return late(answer, charge, context)
    return { answer, rule, admission, publicCost, upstreamMs: 0 }
  } catch (error) {
    return { answer: bug(error, context), rule, admission, publicCost, upstreamMs: 0 }
  }
}

/** An answer that took a node's time, where the gateway does not give it itself. */
function late<A>(
  coming: Promise<A>,
  { rule, admission, publicCost }: { rule: Rule; admission: Admission | null; publicCost: number },
  context: Context,
): Promise<Passed<A | WholeAnswer>> {
  const begin = performance.now()
  const passed = (answer: A | WholeAnswer): Passed<A | WholeAnswer> => {
    const upstreamMs = rule.answer === null ? performance.now() - begin : 0
    return { answer, rule, admission, publicCost, upstreamMs }
  }
  return coming.then(passed, (error: unknown) => passed(bug(error, context)))
}

async function manage(call: Call, caller: Caller, context: Context): Promise<Passed<WholeAnswer>> {
  try {
    return over(await serve(call, caller, context), null)
  } catch (error) {
    return over(bug(error, context), null)
  }
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
function bug(error: unknown, { live, requestId }: Context): WholeAnswer {
  live.observer.bug(error, requestId)
  return refused(refuse('internal'))
}
