/** The line that every call walks: decide → admit → fulfil. */
import type { Call } from '../jsonrpc/call.ts'
import { isRefusal } from '../jsonrpc/is-refusal.ts'
import { refuse } from '../jsonrpc/refusal.ts'
import type { Rule } from '../snapshot/types.ts'
import type { Admission } from '../usage/meter.ts'
import { admit, publicCostOf } from './admit.ts'
import { refused } from './answer.ts'
import type { Answer, WholeAnswer } from './answer.ts'
import type { Caller } from './caller.ts'
import type { Context } from './context.ts'
import { decide } from './decide.ts'
import type { Decided, View } from './decide.ts'
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
  if (context.live.management.has(call.method)) return manage(call, caller, context)
  const decided = decide(call, caller, viewOf(caller, context))
  if (decided.refusal !== null) return over(refused(decided.refusal), decided.row?.rule ?? null)
  const { rule } = decided.row
  const publicCost = publicCostOf(decided, caller, context)
  const admission = admit(decided, publicCost, caller, context)
  if (admission !== null && isRefusal(admission)) return over(refused(admission), rule)
  const charge = { rule, admission, publicCost }
  try {
    const answer = fulfil(decided)
    if (answer instanceof Promise) return late(answer, charge, context)
    return { answer, rule, admission, publicCost, upstreamMs: 0 }
  } catch (error) {
    return { answer: bug(error, context), rule, admission, publicCost, upstreamMs: 0 }
  }
}

function viewOf({ network }: Caller, { snapshot, live }: Context): View {
  return {
    maxDepth: snapshot.gateway.limits.depth,
    head: live.tips.best(network.slug),
    firstSlot: live.upstreams.firstSlot,
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

/** Whatever throws is a bug of ours: the client gets `internal`, the operator the stack. */
function bug(error: unknown, { live, requestId }: Context): WholeAnswer {
  live.observer.bug(error, requestId)
  return refused(refuse('internal'))
}
