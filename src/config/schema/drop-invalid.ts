import type { Finding } from '../finding.ts'
import type { Path } from '../yaml/path.ts'

/** Takes spoilt values out of `value`, in place, so that what is left can be checked against the other files. */
export function dropInvalid(value: unknown, findings: readonly Finding[]): void {
  for (const finding of findings) if (finding.spoils === true) remove(value, finding.path)
}

function remove(value: unknown, path: Path): void {
  const last = path.at(-1)
  let at = value
  for (const step of path.slice(0, -1)) {
    if (typeof at !== 'object' || at === null) return
    at = (at as Record<string | number, unknown>)[step]
  }
  // Set rather than deleted: indexes of lists must stay, a name that is taken is still a name, and a gap is seen.
  if (last !== undefined && typeof at === 'object' && at !== null)
    (at as Record<string | number, unknown>)[last] = undefined
}
