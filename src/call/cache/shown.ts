/** The block that a result shows itself to be about. */
import { elementsOf, memberOf } from '../../jsonrpc/elements.ts'
import { readQuantity } from '../../jsonrpc/quantity.ts'
import type { Raw } from '../../jsonrpc/raw.ts'
import type { NumberedBlocks } from '../../families/reading.ts'

/** The number at the end of a path into a result; null where there is none. */
export function shownNumber(result: Raw, path: readonly string[]): number | null {
  let value: Raw | null | undefined = result
  for (const step of path) {
    const first: number | undefined = value?.charCodeAt(0)
    if (first === 123) value = memberOf(value!, step)
    else if (first === 91 && /^\d{1,4}$/.test(step))
      value = elementsOf(value!, Number(step) + 1)[Number(step)]
    else return null
  }
  return readQuantity(value)
}

/** Whether a result shows one of the blocks that were asked for. An empty list shows none, and says that there is nothing there. */
export function showsAsked(
  result: Raw,
  path: readonly string[] | null,
  { from, to }: Pick<NumberedBlocks, 'from' | 'to'>,
): boolean {
  if (path === null || EMPTY.test(result)) return true
  const number = shownNumber(result, path)
  return number !== null && number >= from && number <= to
}

const EMPTY = /^\[\s*\]$/
