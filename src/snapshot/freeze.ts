/** Freezes plain data all the way down; what is frozen already is taken to be done. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  Object.freeze(value)
  for (const inner of Object.values(value)) deepFreeze(inner)
  return value
}

/** A record without a prototype, safe to look client-chosen names up in. */
export function record<T>(entries: Iterable<readonly [string, T]> = []): Record<string, T> {
  const result = Object.create(null) as Record<string, T>
  for (const [name, value] of entries) result[name] = value
  return result
}
