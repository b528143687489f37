/** Which subscribe calls share an upstream subscription: those that are equal in meaning, as far as that is sure. */
import { canonical } from '../../families/canonical.ts'
import type { SubscriptionWords } from '../../families/family.ts'
import { compact } from '../../jsonrpc/compact.ts'
import { elementsOf } from '../../jsonrpc/elements.ts'
import type { Raw } from '../../jsonrpc/raw.ts'

/**
 * The params that a subscribe call is shared by, and sent with: no caller's own spelling, length or repetition decides how
 * an upstream takes what others share. Equal params mean equal subscriptions; the reverse need not hold. Params of which
 * two parsers could read different things are equal only to themselves.
 */
export function sharedParams(
  { normalize }: Pick<SubscriptionWords, 'normalize'>,
  method: string,
  params: Raw,
): Raw {
  const array = canonical(params)
  if (array === null) return compact(params)
  if (array.charCodeAt(0) !== 91) return array
  const elements = elementsOf(array)
  normalize(method, elements)
  return `[${elements.join(',')}]`
}
