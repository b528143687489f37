/** Looking into the raw slices of valid JSON values, one level deep. */
import { matchName, nameOf } from './names.ts'
import type { Raw } from './raw.ts'
import { INVALID, TOO_DEEP, TOO_MANY, skipString, skipValue } from './skip.ts'
import { walkElements, walkMembers } from './walk.ts'

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
