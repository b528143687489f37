/**
 * State that calls leave on a route: one for everybody, and one for each caller whose own calls drew it, so that one tenant alone
 * steers nobody else. A caller is an account, or on the public route an address.
 */
import { PUBLIC } from '../../limits/fair-share.ts'

/** Callers remembered for a route; the oldest makes room. */
export const REMEMBERED = 256
/** Accounts, and as many addresses of the public route, that `RecentCallers` holds at least, once there have been so many. */
const RECENT = 64

/** Whether a finding holds for a caller; without one, for everybody. `drawnBy`: whose calls drew it; null is a probe. */
export function concerns(drawnBy: ReadonlySet<string | null>, caller?: string): boolean {
  return drawnBy.has(null) || (caller !== undefined && drawnBy.has(caller))
}

/** Whether a caller is an account: addresses of the public route are cheap, so they move no account. */
export function isAccount(caller: string): boolean {
  return !caller.startsWith(PUBLIC)
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

  /** How many callers of those that `counts` have one that fits. */
  countAmong(counts: (caller: string) => boolean, fits: (one: T) => boolean): number {
    let count = 0
    for (const [caller, one] of this.#callers ?? []) if (counts(caller) && fits(one)) count += 1
    return count
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

/** One `T` for each of the callers seen last. Addresses of the public route, of which anybody has many, evict no account. */
export class RecentCallers<T> {
  readonly #make: () => T
  readonly #accounts = new Recent<T>()
  readonly #addresses = new Recent<T>()

  constructor(make: () => T) {
    this.#make = make
  }

  /** The caller's own; undefined when it has none. */
  of(caller: string): T | undefined {
    return this.#among(caller).get(caller)
  }

  /** The caller's own, made when it has none. */
  make(caller: string): T {
    const among = this.#among(caller)
    const known = among.get(caller)
    if (known !== undefined) return known
    const made = this.#make()
    among.set(caller, made)
    return made
  }

  values(): T[] {
    return [...this.#accounts.values(), ...this.#addresses.values()]
  }

  #among(caller: string): Recent<T> {
    return isAccount(caller) ? this.#accounts : this.#addresses
  }
}

/** Two generations: cheaper for each call than an exact order of last use. */
class Recent<T> {
  /** Null until there is an entry: thousands of routes may have none. */
  #young: Map<string, T> | null = null
  #old: Map<string, T> | null = null

  get(key: string): T | undefined {
    const young = this.#young?.get(key)
    if (young !== undefined) return young
    const old = this.#old?.get(key)
    if (old !== undefined) {
      this.#old!.delete(key)
      this.set(key, old)
    }
    return old
  }

  set(key: string, value: T): void {
    if (this.#young !== null && this.#young.size >= RECENT) {
      this.#old = this.#young
      this.#young = null
    }
    this.#young ??= new Map()
    this.#young.set(key, value)
  }

  values(): T[] {
    return [...(this.#young?.values() ?? []), ...(this.#old?.values() ?? [])]
  }
}
