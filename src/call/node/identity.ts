/** Whether a node's answer is about what was asked for: a crossed reply, or a cache in front of the node, may hold another one. */
import { hashDigits } from '../../families/hash.ts'
import type { ReadCall } from '../../families/family.ts'
import { memberOf } from '../../jsonrpc/elements.ts'
import { readQuantity } from '../../jsonrpc/quantity.ts'
import type { Raw } from '../../jsonrpc/raw.ts'
import { firstAt } from '../../jsonrpc/value-at.ts'

/** In the place of a hash that does not exist yet. */
const ZERO = '0'.repeat(64)

type NamedCall = Pick<ReadCall, 'row' | 'elements' | 'span'>

/** Whether the row says where its answers repeat what this call names: a block's number or hash, or a transaction's hash. */
export function isComparable({ row: { rule }, span }: Pick<NamedCall, 'row' | 'span'>): boolean {
  const { shows, is, block } = rule
  if (span === null || is === 'none') return false
  if (span.to.kind === 'hash') return is !== null && block?.path === undefined
  return shows !== null && (span.from.kind === 'number' || span.to.kind === 'number')
}

/**
 * Whether `result` is about another block or transaction than a comparable call names. Numbers compare as numbers and hashes as bytes.
 * What cannot be compared (null, an empty list, a member that the chain's nodes leave out) is taken as it is.
 */
export function isAboutAnother({ row: { rule }, elements, span }: NamedCall, result: Raw): boolean {
  const { shows, is, block } = rule
  if (span === null || result === 'null') return false
  const { from, to } = span
  if (to.kind === 'hash') {
    const asked = hashIn(elements[block!.at])
    const shown = firstAt(result, is as readonly string[])
    return asked !== shown && areOfTwo(hashDigits(asked), hashDigits(shown))
  }
  const shown = readQuantity(firstAt(result, shows!))
  if (shown === null) return false
  return (from.kind === 'number' && shown < from.number) || (to.kind === 'number' && shown > to.number)
}

function areOfTwo(asked: string | null, shown: string | null): boolean {
  return asked !== null && shown !== null && shown !== ZERO && shown !== asked
}

/** The hash that a param is, or holds as a block object or filter. */
function hashIn(element: Raw | undefined): Raw | null {
  if (element?.charCodeAt(0) !== 123) return element ?? null
  return memberOf(element, 'blockHash') ?? null
}
