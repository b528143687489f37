/** Looking into the raw slices of valid JSON values, one level deep. */
import { isVariant, nameOf } from './names.ts'
import type { Raw } from './raw.ts'
import { skipString, skipValue } from './skip.ts'
import { walkElements, walkMembers } from './walk.ts'

/** The elements of a valid JSON array, each as it was sent. */
export function elementsOf(array: Raw): Raw[] {
  const elements: Raw[] = []
  walkElements(array, 0, begin => {
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
  })
  return members
}

/**
 * The member `name` of a valid JSON object: its value, undefined when absent, or null when it is there twice or in a
 * variant of case or folding, so that two parsers would read different values.
 */
export function memberOf(object: Raw, name: string): Raw | undefined | null {
  let found: Raw | undefined
  for (const [other, value] of membersOf(object)) {
    if (isVariant(other, name) || (other === name && found !== undefined)) return null
    if (other === name) found = value
  }
  return found
}
