/** Looking along a path into a raw value: names of members, indexes of arrays. */
import { matchName, memberOf } from './elements.ts'
import type { Raw } from './raw.ts'
import { INVALID, skipValue, walkElements, walkMembers } from './skip.ts'

type FindMember = (object: Raw, name: string) => Raw | undefined | null

/** The value that a path leads to in a valid JSON value; null where there is none, or parsers could read different ones. */
export function valueAt(raw: Raw, path: readonly string[]): Raw | null {
  return follow(raw, path, memberOf)
}

/** Bytes of a value that are looked through for a member: a node can send megabytes of others ahead of it. */
const MOST = 1024 * 1024

/** The same by the first member of each name, in the first MiB: what comes behind it is not read, and a block may be long. */
export function firstAt(raw: Raw, path: readonly string[]): Raw | null {
  return follow(raw.length > MOST ? raw.slice(0, MOST) : raw, path, firstMember)
}

function follow(raw: Raw, path: readonly string[], find: FindMember): Raw | null {
  let value: Raw | null = raw
  for (const step of path) {
    if (value === null) return null
    const first: number = value.charCodeAt(0)
    if (first === 123) value = find(value, step) ?? null
    else if (first === 91 && /^\d{1,4}$/.test(step)) value = elementAt(value, Number(step))
    else return null
  }
  return value
}

function elementAt(array: Raw, index: number): Raw | null {
  let found: Raw | null = null
  let count = 0
  walkElements(array, 0, begin => {
    const end = skipValue(array, begin, Infinity)
    // In the beginning of an array the last element may be cut.
    if (end >= 0 && end < array.length && count === index) found = array.slice(begin, end)
    count += 1
    return count > index ? INVALID : end
  })
  return found
}

/** The first member of a name in a valid JSON object, or in the beginning of one. */
function firstMember(object: Raw, name: string): Raw | null {
  let found: Raw | null = null
  walkMembers(object, 0, (nameAt, begin) => {
    const end = skipValue(object, begin, Infinity)
    if (end < 0 || matchName(object, nameAt, name) !== 'same') return end
    // In the beginning of an object the last value may be cut.
    if (end === object.length) return INVALID
    found = object.slice(begin, end)
    return INVALID
  })
  return found
}
