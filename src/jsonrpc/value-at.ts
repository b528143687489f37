/** Looking along a path into a raw value: names of members, indexes of arrays. */
import { elementsOf, matchName, memberOf } from './elements.ts'
import type { Raw } from './raw.ts'
import { INVALID, skipValue, walkMembers } from './skip.ts'

type FindMember = (object: Raw, name: string) => Raw | undefined | null

/** The value that a path leads to in a valid JSON value; null where there is none, or parsers could read different ones. */
export function valueAt(raw: Raw, path: readonly string[]): Raw | null {
  return follow(raw, path, memberOf)
}

/** The same by the first member of each name: what comes behind it is not read, and a block may be long. */
export function firstAt(raw: Raw, path: readonly string[]): Raw | null {
  return follow(raw, path, firstMember)
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
  return elementsOf(array, index + 1)[index] ?? null
}

function firstMember(object: Raw, name: string): Raw | null {
  let found: Raw | null = null
  walkMembers(object, 0, (nameAt, begin) => {
    const end = skipValue(object, begin, Infinity)
    if (matchName(object, nameAt, name) !== 'same') return end
    found = object.slice(begin, end)
    return INVALID
  })
  return found
}
