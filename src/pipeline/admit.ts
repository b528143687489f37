/** Takes what a decided call costs: rate, quota and charge, or one management call where the row costs nothing. */
import type { Refusal } from '../jsonrpc/refusal.ts'
import type { Admission } from '../usage/meter.ts'
import type { Caller } from './caller.ts'
import type { Context } from './context.ts'
import type { Decided } from './decide.ts'
import { readerOf, UNINSTALL } from './sticky.ts'

/** Units that a call takes from its address's bucket on the public route; a row of cost 0 takes one, as it does by key. */
export function publicCostOf(decided: Decided, caller: Caller, context: Context): number {
  const { cost } = decided.row.rule
  if (caller.payer !== null) return 0
  return cost > 0 || endsOwn(decided, caller, context) ? cost : 1
}

/** Admits a call, or refuses it and takes nothing; null on the public route, which is charged to nobody. */
export function admit(
  decided: Decided,
  publicCost: number,
  caller: Caller,
  context: Context,
): Admission | Refusal | null {
  const { payer, plan, address } = caller
  const { live } = context
  const { match, cost } = decided.row.rule
  if (payer === null) return live.publicMeter.admit(plan.rate, address, publicCost, live.now())
  if (cost === 0 && endsOwn(decided, caller, context))
    return live.meter.admitUnrated(payer, match, cost, live.now())
  return live.meter.admit(payer, match, cost, live.now())
}

/** Whether the call ends a subscription or a filter that is the caller's own, which spares everybody work. */
function endsOwn({ row, method, params, elements }: Decided, caller: Caller, { live }: Context): boolean {
  if (row.rule.unsubscribes !== null) return caller.session?.holds(params) ?? false
  if (row.rule.sticky !== 'use' || method !== UNINSTALL) return false
  const [id = 'null'] = elements
  return live.filters.find(id, readerOf(caller), caller.network.slug) !== null
}
