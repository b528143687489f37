/** Walking one level of a JSON object or array, valid or not. */
import type { Raw } from './raw.ts'
import { INVALID, skipName, skipSpace } from './skip.ts'

/**
 * Walks the members of the object that opens at `at`. `visit` gets where each name and its value begin, and returns where the value
 * ends. Returns the index after the object, INVALID, or the first negative end.
 */
export function walkMembers(raw: Raw, at: number, visit: (nameAt: number, begin: number) => number): number {
  let i = skipSpace(raw, at + 1)
  if (raw.charCodeAt(i) === 125) return i + 1
  for (;;) {
    const begin = skipName(raw, i)
    if (begin < 0) return INVALID
    const end = visit(i, begin)
    if (end < 0) return end
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
