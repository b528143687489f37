/** What a decided call takes from its caller's limits. */
import type { Price } from '../ports/limits.ts'
import type { Caller } from './caller.ts'
import type { Context } from './context.ts'
import type { Decided } from './decide.ts'
import { readerOf } from './node/sticky.ts'

/** The row's cost, and rate unless the call ends something of the caller's own. */
export function priceOf(decided: Decided, caller: Caller, context: Context): Price {
  const { rule } = decided.row
  return rule.cost === 0 && endsOwn(decided, caller, context) ? UNRATED : { units: rule.cost, isRated: true }
}

const UNRATED: Price = { units: 0, isRated: false }

/** Whether the call ends a subscription or a filter that is the caller's own, which spares everybody work. */
function endsOwn({ row, params, elements }: Decided, caller: Caller, { live }: Context): boolean {
  if (row.rule.unsubscribes !== null) return caller.session?.holds(params) ?? false
  if (row.rule.sticky !== 'end') return false
  const [id = 'null'] = elements
  return live.filters.find(id, readerOf(caller), caller.network.slug) !== null
}
