/** The block that a result shows itself to be about. */
import { readQuantity } from '../../jsonrpc/quantity.ts'
import type { Raw } from '../../jsonrpc/raw.ts'
import { valueAt } from '../../jsonrpc/value-at.ts'
import type { NumberedBlocks } from '../../families/reading.ts'

/** The number at the end of a path into a result; null where there is none. */
export function shownNumber(result: Raw, path: readonly string[]): number | null {
  return readQuantity(valueAt(result, path))
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
