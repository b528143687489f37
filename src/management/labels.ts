/** What labels may be. */
import { isPrintable } from '../config/words/printable.ts'
import type { LabelChange, LabelLimits } from '../ports/labels.ts'
import type { Check } from './params.ts'

/** A label's name. */
export const LABEL = /^[A-Za-z0-9._-]{1,63}$/

/** The labels that are given, null for those to take away. */
export function labelsOf({ most, longest }: LabelLimits): Check<LabelChange> {
  const wrong = `must be an object of at most ${most} strings of at most ${longest} printable characters`
  return value => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return { wrong }
    const entries = Object.entries(value)
    // Those to take away are beside those that stay.
    if (entries.length > 2 * most || entries.filter(([, each]) => each !== null).length > most)
      return { wrong }
    for (const [name, each] of entries) {
      if (!LABEL.test(name))
        return {
          wrong: `${wrong}; ${JSON.stringify(name.slice(0, 64))} is not a name of 1 to 63 letters, digits, ., _ and -`,
        }
      const isText = typeof each === 'string' && isPrintable(each, longest)
      if (each !== null && !isText) return { wrong: `${wrong}; ${name} is not` }
    }
    return { value: Object.fromEntries(entries) }
  }
}
