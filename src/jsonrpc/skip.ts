/** A strict, non-recursive JSON scanner (RFC 8259): finds where a value ends without building it. */
import type { Raw } from './raw.ts'

/** Returned in place of an end: no valid JSON value stands here. */
export const INVALID = -1
/** Returned in place of an end: nested deeper than allowed. */
export const TOO_DEEP = -2
/** Returned in place of an end: more members than allowed. */
export const TOO_MANY = -3

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

/** Escapes by their second character. */
const SIMPLE_ESCAPE = 1
const HEX_ESCAPE = 2
const escapes = new Uint8Array(256)
for (const c of Buffer.from('"\\/bfnrt')) escapes[c] = SIMPLE_ESCAPE
escapes[117] = HEX_ESCAPE

/** Index of the last character of the escape at `at`, or INVALID. */
function skipEscape(raw: Raw, at: number): number {
  const kind = escapes[raw.charCodeAt(at + 1)]
  if (kind === SIMPLE_ESCAPE) return at + 1
  if (kind !== HEX_ESCAPE) return INVALID
  for (let i = at + 2; i < at + 6; i += 1) if (!isHex(raw.charCodeAt(i))) return INVALID
  return at + 5
}

function isHex(c: number): boolean {
  return (c >= 48 && c <= 57) || (c >= 65 && c <= 70) || (c >= 97 && c <= 102)
}

/** From a member's name at `at` to where its value begins, or INVALID. */
export function skipName(raw: Raw, at: number): number {
  if (raw.charCodeAt(at) !== 34) return INVALID
  const end = skipString(raw, at)
  if (end < 0) return INVALID
  const colon = skipSpace(raw, end)
  return raw.charCodeAt(colon) === 58 ? skipSpace(raw, colon + 1) : INVALID
}

/**
 * The automaton that reads values other than strings, a table look-up per character: a message can hold millions of values. The low bits
 * of a state select its row; an entry from ACTION on is no state.
 */
const VALUE = 0
const FIRST_ELEMENT = 1
const AFTER_VALUE = 2
const MINUS = 3
const ZERO = 4
const INTEGER = 5
const POINT = 6
const FRACTION = 7
const EXPONENT_MARK = 8
const EXPONENT_SIGN = 9
const EXPONENT = 10
/** The letters of `true`, `false` and `null` behind the first. */
const TRUE = 11
const FALSE = 14
const NULL = 18
const STATES = 21

const ACTION = 64
const STRING = ACTION
const COMMA = ACTION + 1
const OPEN = ACTION + 2
const CLOSE = ACTION + 3
const FAULT = ACTION + 4

const transitions = buildTransitions()

function buildTransitions(): Uint8Array {
  const table = new Uint8Array(STATES * 256).fill(FAULT)
  const set = (states: readonly number[], characters: string, next: number): void => {
    for (const state of states) for (const c of Buffer.from(characters)) table[state * 256 + c] = next
  }
  const word = (letters: string, first: number): void => {
    set([VALUE, FIRST_ELEMENT], letters.charAt(0), first)
    for (let k = 1; k < letters.length; k += 1)
      set([first + k - 1], letters.charAt(k), k === letters.length - 1 ? AFTER_VALUE : first + k)
  }
  for (const state of [VALUE, FIRST_ELEMENT]) set([state], ' \n\r\t', state)
  set([VALUE, FIRST_ELEMENT], '"', STRING)
  set([VALUE, FIRST_ELEMENT], '{[', OPEN)
  set([FIRST_ELEMENT], ']', CLOSE)
  word('true', TRUE)
  word('false', FALSE)
  word('null', NULL)
  set([VALUE, FIRST_ELEMENT], '-', MINUS)
  set([VALUE, FIRST_ELEMENT, MINUS], '0', ZERO)
  set([VALUE, FIRST_ELEMENT, MINUS], '123456789', INTEGER)
  set([INTEGER], '0123456789', INTEGER)
  set([ZERO, INTEGER], '.', POINT)
  set([POINT, FRACTION], '0123456789', FRACTION)
  set([ZERO, INTEGER, FRACTION], 'eE', EXPONENT_MARK)
  set([EXPONENT_MARK], '+-', EXPONENT_SIGN)
  set([EXPONENT_MARK, EXPONENT_SIGN, EXPONENT], '0123456789', EXPONENT)
  const ends = [AFTER_VALUE, ZERO, INTEGER, FRACTION, EXPONENT]
  set(ends, ' \n\r\t', AFTER_VALUE)
  set(ends, ',', COMMA)
  set(ends, '}]', CLOSE)
  return table
}

/** The bracket that closes each open container; one for all scans, which never overlap. */
let closing: Uint8Array = new Uint8Array(128)

/** Index after the value at `at` (no white space before it), INVALID, or TOO_DEEP beyond `maxDepth` levels. */
export function skipValue(raw: Raw, at: number, maxDepth: number): number {
  const first = raw.charCodeAt(at)
  if (first === 34) return skipString(raw, at)
  if (first !== 123 && first !== 91) return skipScalar(raw, at)
  let depth = 0
  let state = VALUE
  for (let i = at; ;) {
    const c = raw.charCodeAt(i)
    // NaN past the end.
    const next = c < 256 ? transitions[state * 256 + c]! : FAULT
    if (next < ACTION) {
      state = next
      i += 1
    } else if (next === STRING) {
      i = skipString(raw, i)
      state = AFTER_VALUE
    } else if (next === COMMA) {
      const isObject = closing[depth] === 125
      i = isObject ? skipName(raw, skipSpace(raw, i + 1)) : i + 1
      state = VALUE
    } else if (next === OPEN) {
      if (depth >= maxDepth) return TOO_DEEP
      depth += 1
      if (depth === closing.length) closing = grown(closing)
      closing[depth] = c + 2
      state = FIRST_ELEMENT
      i += 1
      if (c === 123) {
        i = skipSpace(raw, i)
        if (raw.charCodeAt(i) === 125) state = AFTER_VALUE
        else {
          i = skipName(raw, i)
          state = VALUE
        }
      }
    } else if (next === CLOSE && closing[depth] === c) {
      i += 1
      depth -= 1
      if (depth === 0) return i
      state = AFTER_VALUE
    } else return INVALID
    if (i < 0) return INVALID
  }
}

function grown(stack: Uint8Array): Uint8Array {
  const longer = new Uint8Array(stack.length * 2)
  longer.set(stack)
  return longer
}

/** Index after the number or word at `at`, or INVALID. */
function skipScalar(raw: Raw, at: number): number {
  let state = VALUE
  for (let i = at; ; i += 1) {
    const c = raw.charCodeAt(i)
    const next = c < 256 ? transitions[state * 256 + c]! : FAULT
    const isNumber = state === ZERO || state === INTEGER || state === FRACTION || state === EXPONENT
    // A zero leads no other digit.
    const isOctal = state === ZERO && c >= 48 && c <= 57
    if (next >= ACTION || next === VALUE || (isNumber && next === AFTER_VALUE))
      return isNumber && !isOctal ? i : INVALID
    if (next === AFTER_VALUE) return i + 1
    state = next
  }
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
