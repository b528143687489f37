/** Member names as different JSON parsers read them. */
import { decodeJson } from './raw.ts'
import type { Raw } from './raw.ts'

/** The name that a quoted JSON string spells; escapes are decoded, and non-ASCII only then. */
export function nameOf(quoted: Raw): string {
  for (let i = 1; i < quoted.length - 1; i += 1) {
    const c = quoted.charCodeAt(i)
    if (c === 92 || c > 127) return decodeJson(quoted) as string
  }
  return quoted.slice(1, -1)
}

/**
 * Whether a lenient parser could take `name` for `wanted`: Go's encoding/json matches member names without regard to
 * case, with Unicode folding (U+017F for s, U+212A for k).
 */
export function isVariant(name: string, wanted: string): boolean {
  // Simple folding keeps the length.
  if (name.length !== wanted.length || name === wanted) return false
  return name.toUpperCase().toLowerCase() === wanted.toLowerCase()
}
