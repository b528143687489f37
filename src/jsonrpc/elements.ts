/** Looking into the raw slices of valid JSON values, one level deep. */
import { matchName, nameOf } from './names.ts'
import type { Raw } from './raw.ts'
import { INVALID, skipString, skipValue } from './skip.ts'
import { walkElements, walkMembers } from './walk.ts'

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

/** The members of a valid JSON object in their order, names decoded. */
export function membersOf(object: Raw): (readonly [name: string, value: Raw])[] {
  const members: (readonly [string, Raw])[] = []
  walkMembers(object, 0, Infinity, (nameAt, begin, end) => {
    members.push([nameOf(object.slice(nameAt, skipString(object, nameAt))), object.slice(begin, end)])
    return true
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

/** As `memberOf`, of several names in one walk. */
export function pickMembers(object: Raw, names: readonly string[]): (Raw | undefined | null)[] {
  const found = names.map((): Raw | undefined | null => undefined)
  let count = 0
  const walked = walkMembers(object, 0, Infinity, (nameAt, begin, end) => {
    for (let k = 0; k < names.length; k += 1) {
      const match = matchName(object, nameAt, names[k]!)
      if (match === 'other') continue
      found[k] = match === 'variant' || found[k] !== undefined ? null : object.slice(begin, end)
    }
    count += 1
    return count <= MAX_MEMBERS
  })
  return walked < 0 ? names.map(() => null) : found
}
