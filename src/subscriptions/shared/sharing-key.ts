/** Which subscribe calls share an upstream subscription: those that are equal in meaning, as far as that is sure. */
import { canonical } from '../../families/canonical.ts'
import type { SubscriptionWords } from '../../families/family.ts'
import { compact } from '../../jsonrpc/compact.ts'
import { elementsOf } from '../../jsonrpc/elements.ts'
import type { Raw } from '../../jsonrpc/raw.ts'

/**
 * Equal keys mean equal subscriptions; the reverse need not hold. Params of which two parsers could read different things
 * are equal only to themselves.
 */
export function sharingKey(
  { normalize }: Pick<SubscriptionWords, 'normalize'>,
  method: string,
  params: Raw,
): string {
  const exact = `${method} ${compact(params)}`
  const array = canonical(params)
  if (array === null) return exact
  if (array.charCodeAt(0) !== 91) return `${method} ${array}`
  const elements = elementsOf(array)
  normalize(method, elements)
  return `${method} [${elements.join(',')}]`
}
