/** What a configuration holds, without its secrets. The schema alone says which these are, so a key that is marked there is shown nowhere. */
import type { FileName } from '../files.ts'
import { secretKeys } from '../validators.ts'

const HIDDEN = '(hidden)'

/** Whether a key of a file is a secret. */
export function isSecret(file: FileName, key: string): boolean {
  return secretKeys()[file].includes(key)
}

/** A copy of something that a file says: under the keys of secrets only the names and how many there are. */
export function hideSecrets(file: FileName, value: unknown): unknown {
  return secretKeys()[file].length === 0 ? value : hidden(file, value, false)
}

function hidden(file: FileName, value: unknown, secret: boolean): unknown {
  if (Array.isArray(value)) return value.map(item => hidden(file, item, secret))
  if (typeof value !== 'object' || value === null) return secret && value !== null ? HIDDEN : value
  const members = Object.entries(value).map(([key, inner]) => [
    key,
    hidden(file, inner, secret || isSecret(file, key)),
  ])
  return Object.fromEntries(members) as unknown
}
