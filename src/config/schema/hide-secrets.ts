/** What a configuration holds, without its secrets. The schema alone says which these are, so a key that is marked there is shown nowhere. */
import type { FileName } from '../files.ts'
import { secretKeys } from '../validators.ts'

const HIDDEN = '(hidden)'

/** Whether a key of a file is a secret; `path` names it behind the maps that it stands in, as far as they are known: `tracing.headers`. */
export function isSecret(file: FileName, path: string): boolean {
  return secretKeys()[file].some(secret => path === secret || path.endsWith(`.${secret}`))
}

/** A copy of something that a file says under `path`: under the keys of secrets only the names and how many there are. */
export function hideSecrets(file: FileName, value: unknown, path = ''): unknown {
  return secretKeys()[file].length === 0 ? value : hidden(file, value, path, isSecret(file, path))
}

function hidden(file: FileName, value: unknown, path: string, secret: boolean): unknown {
  if (Array.isArray(value)) return value.map(item => hidden(file, item, path, secret))
  if (typeof value !== 'object' || value === null) return secret && value !== null ? HIDDEN : value
  const members = Object.entries(value).map(([key, inner]) => {
    const below = path === '' ? key : `${path}.${key}`
    return [key, hidden(file, inner, below, secret || isSecret(file, below))]
  })
  return Object.fromEntries(members) as unknown
}
