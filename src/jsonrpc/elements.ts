/** Looking into the raw slices of valid JSON values, one level deep. */
import type { Raw } from './raw.ts'
import { INVALID, TOO_DEEP, TOO_MANY, skipString, skipValue, walkElements, walkMembers } from './skip.ts'
import { decodeJson } from './raw.ts'

/** Bytes of an options, config or block object, or of JSON in a string, that is looked into: who sends more wants to keep us busy. */
export const MAX_READ = 64 * 1024

/** The elements of a valid JSON array, each as it was sent; the first `most` of them. */
export function elementsOf(array: Raw, most = Infinity): Raw[] {
  const elements: Raw[] = []
  walkElements(array, 0, begin => {
    if (elements.length >= most) return INVALID
    const end = skipValue(array, begin, Infinity)
    elements.push(array.slice(begin, end))
    return end
  })
  return elements
}

/** The elements of an array as far as a rule may ask for them. A long value is not scanned again to find them. */
export interface Elements {
  /** Each as it was sent. */
  readonly first: readonly Raw[]
  /** How many there are in all. */
  readonly count: number
}

/** Most elements that are kept apart: methods have few parameters, and a batch holds a thousand calls. */
const KEPT = 32

/** Those of params that are no array. */
export const NO_ELEMENTS: Elements = { first: [], count: 0 }

/** Elements while they are found. */
export class FoundElements implements Elements {
  readonly first: Raw[] = []
  count = 0

  /** Scans the array that opens at `at`, as `skipValue` does, and keeps its elements. */
  scan(raw: Raw, at: number, maxDepth: number): number {
    if (maxDepth < 1) return TOO_DEEP
    return walkElements(raw, at, begin => {
      const end = skipValue(raw, begin, maxDepth - 1)
      if (end >= 0 && this.count < KEPT) this.first.push(raw.slice(begin, end))
      this.count += 1
      return end
    })
  }
}

/** The elements of a call's valid params, where no scan has found them yet. */
export function elementsIn(params: Raw): Elements {
  if (params.charCodeAt(0) !== 91) return NO_ELEMENTS
  const elements = new FoundElements()
  elements.scan(params, 0, Infinity)
  return elements
}

/** The members of a valid JSON object in their order, names decoded. */
export function membersOf(object: Raw): (readonly [name: string, value: Raw])[] {
  const members: (readonly [string, Raw])[] = []
  walkMembers(object, 0, (nameAt, begin) => {
    const end = skipValue(object, begin, Infinity)
    members.push([nameOf(object.slice(nameAt, skipString(object, nameAt))), object.slice(begin, end)])
    return end
  })
  return members
}

/** Most members of an object that is looked into: who sends more wants to keep us busy. */
const MAX_MEMBERS = 1000

/**
 * The member `name` of a valid JSON object: its value, undefined when absent, or null when it cannot be told: it is there
 * twice or in a variant of case or folding, so that two parsers would read different values, or among too many others.
 */
export function memberOf(object: Raw, name: string): Raw | undefined | null {
  return pickMembers(object, [name])[0]
}

/**
 * Counts the params in a valid JSON object, up to one more than `most`. Bitcoin Core takes the elements of a member `args`
 * as params, too.
 */
export function countNamed(object: Raw, most: number): number {
  let count = 0
  walkMembers(object, 0, (nameAt, begin) => {
    const isList = object.charCodeAt(begin) === 91 && matchName(object, nameAt, 'args') === 'same'
    if (!isList) {
      count += 1
      return count > most ? TOO_MANY : skipValue(object, begin, Infinity)
    }
    return walkElements(object, begin, at => {
      count += 1
      return count > most ? TOO_MANY : skipValue(object, at, Infinity)
    })
  })
  return count
}

/** What of an object may be how long. */
export interface MembersBound {
  /** Bytes of the values together. */
  readonly most: number
  /** Members whose values do not count. */
  readonly free: readonly string[]
}

/** As `memberOf`, of several names in one walk. */
export function pickMembers(object: Raw, names: readonly string[]): (Raw | undefined | null)[] {
  return pick(object, names, (_, begin) => skipValue(object, begin, Infinity))
}

/** The same, or null where the object is longer than it may be, which is noticed before all of it is scanned. */
export function pickBounded(
  object: Raw,
  names: readonly string[],
  { most, free }: MembersBound,
): (Raw | undefined | null)[] | null {
  if (object.length <= most) return pickMembers(object, names)
  let left = most
  const found = pick(object, names, (nameAt, begin) => {
    if (free.some(name => matchName(object, nameAt, name) === 'same'))
      return skipValue(object, begin, Infinity)
    // In a valid object a value that does not end within what is left is too long.
    const length = skipValue(object.slice(begin, begin + left), 0, Infinity)
    left = length < 0 || length >= left ? INVALID : left - length
    return left < 0 ? INVALID : begin + length
  })
  return left < 0 ? null : found
}

function pick(
  object: Raw,
  names: readonly string[],
  endOf: (nameAt: number, begin: number) => number,
): (Raw | undefined | null)[] {
  const found = names.map((): Raw | undefined | null => undefined)
  let count = 0
  const walked = walkMembers(object, 0, (nameAt, begin) => {
    const end = endOf(nameAt, begin)
    if (end < 0) return end
    for (let k = 0; k < names.length; k += 1) {
      const match = matchName(object, nameAt, names[k]!)
      if (match === 'other') continue
      found[k] = match === 'variant' || found[k] !== undefined ? null : object.slice(begin, end)
    }
    count += 1
    return count <= MAX_MEMBERS ? end : TOO_MANY
  })
  return walked < 0 ? names.map(() => null) : found
}

/** The name that a quoted JSON string spells; escapes are decoded, and non-ASCII only then. */
export function nameOf(quoted: Raw): string {
  for (let i = 1; i < quoted.length - 1; i += 1) {
    const c = quoted.charCodeAt(i)
    if (c === 92 || c > 127) return decodeJson(quoted) as string
  }
  return quoted.slice(1, -1)
}

/** How a name reads: as the wanted one, as one that a lenient parser could take for it, or as something else. */
export type NameMatch = 'same' | 'variant' | 'other'

/**
 * Compares the name in the valid JSON string that opens at `at` with `wanted` (ASCII), without building it: a message can
 * hold a million names. A variant differs in case or folding only: Go's encoding/json matches member names so (U+017F for
 * s, U+212A for k), Java's equalsIgnoreCase takes U+0130 and U+0131 for i.
 */
export function matchName(raw: Raw, at: number, wanted: string): NameMatch {
  // Nearly every name is plain, and told by its first character.
  const first = raw.charCodeAt(at + 1)
  if (first < 128 && first !== 92 && (first | 32) !== (wanted.charCodeAt(0) | 32)) return 'other'
  let i = at + 1
  let same = true
  for (let k = 0; k < wanted.length; k += 1) {
    const w = wanted.charCodeAt(k)
    let c = raw.charCodeAt(i)
    if (c === 34) return 'other'
    if (c === 92) {
      const isHex = raw.charCodeAt(i + 1) === 117
      c = isHex ? parseInt(raw.slice(i + 2, i + 6), 16) : unescaped(raw.charCodeAt(i + 1))
      i += isHex ? 6 : 2
    } else if (c > 127) {
      const length = c < 0xe0 ? 2 : 3
      c = folding(raw, i, length)
      i += length
    } else i += 1
    if (c !== w) {
      if (fold(c) !== fold(w)) return 'other'
      same = false
    }
  }
  if (raw.charCodeAt(i) !== 34) return 'other'
  return same ? 'same' : 'variant'
}

/** The character of a two-character escape. */
function unescaped(c: number): number {
  const at = 'bfnrt'.indexOf(String.fromCharCode(c))
  return at < 0 ? c : '\b\f\n\r\t'.charCodeAt(at)
}

/** The few characters beyond ASCII that fold into it, as their code points; -1 for any other. */
function folding(raw: Raw, at: number, length: number): number {
  const bytes = raw.slice(at, at + length)
  if (bytes === '\u00c5\u00bf') return 0x17f
  if (bytes === '\u00c4\u00b0') return 0x130
  if (bytes === '\u00c4\u00b1') return 0x131
  return bytes === '\u00e2\u0084\u00aa' ? 0x212a : -1
}

function fold(c: number): number {
  if (c >= 65 && c <= 90) return c + 32
  if (c === 0x17f) return 115
  if (c === 0x212a) return 107
  return c === 0x130 || c === 0x131 ? 105 : c
}

/** The object at its place, or before it where optional params were left out. */
export function configOf(at: number | null, elements: readonly Raw[]): Raw | null {
  if (at === null) return null
  return elements.slice(0, at + 1).findLast(element => element.charCodeAt(0) === 123) ?? null
}
