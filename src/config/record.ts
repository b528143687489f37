/** An empty object without a prototype: names that come from outside (`__proto__`, `constructor`) are plain keys of it. */
export function emptyRecord<T>(): Record<string, T> {
  return Object.create(null) as Record<string, T>
}

/** The same with something in it. */
export function record<T>(entries: Iterable<readonly [string, T]>): Record<string, T> {
  const result = emptyRecord<T>()
  for (const [name, value] of entries) result[name] = value
  return result
}

/** Freezes plain data all the way down. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  for (const inner of Object.values(value)) deepFreeze(inner)
  return Object.freeze(value)
}
