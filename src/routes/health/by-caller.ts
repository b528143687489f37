/**
 * State that calls leave on a route: one for everybody, and one for each caller whose own calls drew it, so that one tenant alone
 * steers nobody else. A caller is an account, or on the public route an address.
 */

/** Callers whose calls say the same of a route before it holds for everybody. */
export const SPEAK_FOR_ALL = 2
/** Callers remembered for a route; the oldest makes room. */
const REMEMBERED = 256

/** Whether what these drew (two at most; null is a probe of ours) is held against a route for a caller; without one, for everybody. */
export function concerns(drawnBy: ReadonlySet<string | null>, caller?: string): boolean {
  if (drawnBy.size >= SPEAK_FOR_ALL || drawnBy.has(null)) return true
  return caller !== undefined && drawnBy.has(caller)
}

/** `T` for everybody, and for the few callers that have one of their own. */
export class ByCaller<T> {
  readonly everybody: T
  readonly #make: () => T
  /** Null while no caller has one: thousands of routes never need it. */
  #callers: Map<string, T> | null = null

  constructor(make: () => T) {
    this.everybody = make()
    this.#make = make
  }

  /** The caller's own; undefined when it has none. */
  of(caller: string): T | undefined {
    return this.#callers?.get(caller)
  }

  /** The caller's own, made when it has none. */
  make(caller: string): T {
    this.#callers ??= new Map()
    const known = this.#callers.get(caller)
    if (known !== undefined) return known
    const [oldest] = this.#callers.keys()
    if (this.#callers.size >= REMEMBERED && oldest !== undefined) this.#callers.delete(oldest)
    const made = this.#make()
    this.#callers.set(caller, made)
    return made
  }

  /** Drops what a caller has. */
  forget(caller: string): void {
    if (this.#callers?.delete(caller) === true && this.#callers.size === 0) this.#callers = null
  }

  /** All that callers have, the oldest first. */
  own(): Iterable<T> {
    return this.#callers?.values() ?? []
  }

  /** How many callers have one that fits. */
  count(fits: (one: T) => boolean): number {
    let count = 0
    for (const one of this.own()) if (fits(one)) count += 1
    return count
  }
}
