const LONGEST = 60

/**
 * A value as a message quotes it: cut where it is long, and behind `://`, because what follows there can be an
 * upstream URL with the operator's provider key that a slip of indentation put into another key.
 */
export function show(value: unknown): string {
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object' && value !== null) return 'a map'
  if (typeof value !== 'string') return String(value)
  const safe = value.replace(/:\/\/.*$/s, '://…')
  return JSON.stringify(safe.length > LONGEST ? `${safe.slice(0, LONGEST)}…` : safe)
}

/** `a`, `a and b`, `a, b and c`; or with another word between. */
export function listed(words: readonly string[], between = 'and'): string {
  if (words.length < 2) return words.join('')
  return `${words.slice(0, -1).join(', ')} ${between} ${words.at(-1) ?? ''}`
}
