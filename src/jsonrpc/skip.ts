/** A strict, non-recursive JSON scanner (RFC 8259): finds where a value ends without building it. */
import type { Raw } from './raw.ts'

/** Returned in place of an end: no valid JSON value stands here. */
export const INVALID = -1
/** Returned in place of an end: nested deeper than allowed. */
export const TOO_DEEP = -2
/** Returned in place of an end: more members than allowed. */
export const TOO_MANY = -3

const ARRAY = 0
const OBJECT = 1

/** Blanks that are looked at one by one before the end of them is searched for, which pays in long runs. */
const FEW_BLANKS = 64
const NOT_BLANK = /[^ \n\r\t]/g

/** Index of the first character at or after `at` that is no JSON white space. */
export function skipSpace(raw: Raw, at: number): number {
  for (let i = at; i < at + FEW_BLANKS; i += 1) {
    const c = raw.charCodeAt(i)
    if (c !== 32 && c !== 10 && c !== 13 && c !== 9) return i
  }
  NOT_BLANK.lastIndex = at + FEW_BLANKS
  return NOT_BLANK.test(raw) ? NOT_BLANK.lastIndex - 1 : raw.length
}

/** Characters of a string that are looked at one by one before the next one that matters is searched for, which pays in long strings. */
const NEAR = 256
/** What the plain characters of a string end at: its end, an escape, or what may not be there. */
const NOT_PLAIN = /["\\\x00-\x1f]/g

/** Index after the string that opens at `at`, or INVALID. */
export function skipString(raw: Raw, at: number): number {
  let i = at + 1
  for (;;) {
    for (const near = i + NEAR; i < near; i += 1) {
      const c = raw.charCodeAt(i)
      if (c === 34) return i + 1
      if (c === 92) {
        i = skipEscape(raw, i)
        if (i < 0) return INVALID
      } else if (!(c >= 32)) return INVALID // a control character, or NaN past the end
    }
    NOT_PLAIN.lastIndex = i
    const found = NOT_PLAIN.exec(raw)
    if (found === null) return INVALID
    i = found.index
  }
}

function skipEscape(raw: Raw, at: number): number {
  const kind = raw[at + 1]
  if (kind === undefined) return INVALID
  if (kind !== 'u') return '"\\/bfnrt'.includes(kind) ? at + 1 : INVALID
  for (let i = at + 2; i < at + 6; i += 1) if (!isHex(raw.charCodeAt(i))) return INVALID
  return at + 5
}

function isHex(c: number): boolean {
  return (c >= 48 && c <= 57) || (c >= 65 && c <= 70) || (c >= 97 && c <= 102)
}

function isDigit(c: number): boolean {
  return c >= 48 && c <= 57
}

function skipDigits(raw: Raw, at: number): number {
  let i = at
  while (isDigit(raw.charCodeAt(i))) i += 1
  return i === at ? INVALID : i
}

function skipNumber(raw: Raw, at: number): number {
  let i = raw.charCodeAt(at) === 45 ? at + 1 : at
  const leading = i
  i = skipDigits(raw, i)
  if (i < 0 || (raw.charCodeAt(leading) === 48 && i > leading + 1)) return INVALID
  if (raw.charCodeAt(i) === 46) {
    i = skipDigits(raw, i + 1)
    if (i < 0) return INVALID
  }
  if ((raw.charCodeAt(i) | 32) !== 101) return i
  const sign = raw.charCodeAt(i + 1)
  return skipDigits(raw, sign === 43 || sign === 45 ? i + 2 : i + 1)
}

function skipWord(raw: Raw, at: number, word: string): number {
  return raw.startsWith(word, at) ? at + word.length : INVALID
}

function skipScalar(raw: Raw, at: number): number {
  const c = raw.charCodeAt(at)
  if (c === 34) return skipString(raw, at)
  if (c === 45 || isDigit(c)) return skipNumber(raw, at)
  if (c === 116) return skipWord(raw, at, 'true')
  if (c === 102) return skipWord(raw, at, 'false')
  return c === 110 ? skipWord(raw, at, 'null') : INVALID
}

/** From a member's name at `at` to where its value begins, or INVALID. */
export function skipName(raw: Raw, at: number): number {
  if (raw.charCodeAt(at) !== 34) return INVALID
  const end = skipString(raw, at)
  if (end < 0) return INVALID
  const colon = skipSpace(raw, end)
  return raw.charCodeAt(colon) === 58 ? skipSpace(raw, colon + 1) : INVALID
}

/** Index after the value at `at` (no white space before it), INVALID, or TOO_DEEP beyond `maxDepth` levels. */
export function skipValue(raw: Raw, at: number, maxDepth: number): number {
  const first = raw.charCodeAt(at)
  if (first !== 123 && first !== 91) return skipScalar(raw, at)
  const containers: number[] = []
  let i = at
  for (;;) {
    const c = raw.charCodeAt(i)
    if (c === 123 || c === 91) {
      if (containers.length >= maxDepth) return TOO_DEEP
      i = skipSpace(raw, i + 1)
      if (raw.charCodeAt(i) !== c + 2) {
        containers.push(c === 123 ? OBJECT : ARRAY)
        if (c === 123) i = skipName(raw, i)
        if (i < 0) return INVALID
        continue
      }
      i += 1
    } else {
      i = skipScalar(raw, i)
      if (i < 0) return INVALID
    }
    i = afterValue(raw, i, containers)
    if (i < 0) return INVALID
    if (containers.length === 0) return i
  }
}

/** Closes what ends at `at`; stands at the next value, or after the outermost one when `containers` is empty. */
function afterValue(raw: Raw, at: number, containers: number[]): number {
  let i = at
  while (containers.length > 0) {
    i = skipSpace(raw, i)
    const c = raw.charCodeAt(i)
    const inObject = containers[containers.length - 1] === OBJECT
    if (c === 44) {
      i = skipSpace(raw, i + 1)
      return inObject ? skipName(raw, i) : i
    }
    if (c !== (inObject ? 125 : 93)) return INVALID
    containers.pop()
    i += 1
  }
  return i
}

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
