/** Remembers for a while what many callers have done, at most so much of it: who does a lot pushes out its own, not what others have done. */
import { FairShare, PUBLIC } from './fair-share.ts'

/** One thing that is remembered. */
interface Entry<V> {
  readonly value: V
  /** Whose it is: an account, or an address of the public route. */
  readonly holder: string
  /** By the monotonic clock, in milliseconds. */
  readonly until: number
}

/** A cache of at most `most` entries, each for `lives` milliseconds, within the `FairShare` of whoever it belongs to. Times are in milliseconds of a monotonic clock. */
export class FairCache<V> {
  readonly #lives: number
  readonly #share: FairShare
  /** The oldest first. */
  readonly #entries = new Map<string, Entry<V>>()
  /** The keys of each holder, and once more those of all addresses of the public route; the oldest first. */
  readonly #keys = new Map<string, Set<string>>()

  constructor(most: number, lives: number) {
    this.#lives = lives
    this.#share = new FairShare(() => most)
  }

  get(key: string, now: number): V | undefined {
    const entry = this.#entries.get(key)
    return entry === undefined || now >= entry.until ? undefined : entry.value
  }

  /** Remembers what was not known. What is over its holder's share makes room: the oldest of its own first. */
  add(key: string, value: V, holder: string, now: number): void {
    this.#drop(key)
    for (const [old, { until }] of this.#entries) {
      if (now < until) break
      this.#drop(old)
    }
    while (this.#entries.size > 0 && !this.#share.fits(1, holder)) this.#drop(this.#nextToGo(holder))
    this.#share.take(1, holder)
    this.#entries.set(key, { value, holder, until: now + this.#lives })
    for (const name of namesOf(holder)) {
      let keys = this.#keys.get(name)
      if (keys === undefined) this.#keys.set(name, (keys = new Set()))
      keys.add(key)
    }
  }

  /** The oldest of the holder's own; where it has none, of the public route's if it is one of that; else of all. */
  #nextToGo(holder: string): string {
    for (const name of namesOf(holder)) {
      const oldest = firstOf(this.#keys.get(name))
      if (oldest !== undefined) return oldest
    }
    return firstOf(this.#entries)!
  }

  #drop(key: string): void {
    const entry = this.#entries.get(key)
    if (entry === undefined) return
    const { holder } = entry
    this.#entries.delete(key)
    this.#share.giveBack(1, holder)
    for (const name of namesOf(holder)) {
      const keys = this.#keys.get(name)
      keys?.delete(key)
      if (keys?.size === 0) this.#keys.delete(name)
    }
  }
}

/** What a holder's keys are found by. */
function namesOf(holder: string): readonly string[] {
  return holder.startsWith(PUBLIC) ? [holder, PUBLIC] : [holder]
}

function firstOf(keys: { readonly keys: () => Iterator<string> } | undefined): string | undefined {
  const first = keys?.keys().next()
  return first?.done === false ? first.value : undefined
}
