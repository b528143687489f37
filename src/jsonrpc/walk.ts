/** Walking one level of a JSON object or array, valid or not. */
import type { Raw } from './raw.ts'
import { INVALID, TOO_MANY, skipName, skipSpace, skipValue } from './skip.ts'

/**
 * Walks the members of the object that opens at `at`. `visit` learns where each name, value and value's end stand, and
 * says whether it wants more; `endOf` finds the end of a value, which may have `maxDepth` - 1 levels. Returns the index after the object,
 * INVALID, TOO_DEEP, or TOO_MANY when `visit` had enough.
 */
export function walkMembers(
  raw: Raw,
  at: number,
  maxDepth: number,
  visit: (nameAt: number, begin: number, end: number) => boolean,
  endOf: (nameAt: number, begin: number) => number = (_, begin) => skipValue(raw, begin, maxDepth - 1),
): number {
  let i = skipSpace(raw, at + 1)
  if (raw.charCodeAt(i) === 125) return i + 1
  for (;;) {
    const begin = skipName(raw, i)
    if (begin < 0) return INVALID
    const end = endOf(i, begin)
    if (end < 0) return end
    if (!visit(i, begin, end)) return TOO_MANY
    i = skipSpace(raw, end)
    const c = raw.charCodeAt(i)
    if (c === 125) return i + 1
    if (c !== 44) return INVALID
    i = skipSpace(raw, i + 1)
  }
}

/**
 * Walks the elements of the array that opens at `at`. `visit` gets where each begins and returns where it ends.
 * Returns the index after the array, or the first negative end.
 */
export function walkElements(raw: Raw, at: number, visit: (begin: number) => number): number {
  let i = skipSpace(raw, at + 1)
  if (raw.charCodeAt(i) === 93) return i + 1
  for (;;) {
    const end = visit(i)
    if (end < 0) return end
    i = skipSpace(raw, end)
    const c = raw.charCodeAt(i)
    if (c === 93) return i + 1
    if (c !== 44) return INVALID
    i = skipSpace(raw, i + 1)
  }
}
