/** What has to wait before it may be passed on, bounded in number and bytes. */

/** A budget of bytes that several holders share. */
export interface ByteBudget {
  /** Whether so many bytes were taken; nothing is taken when they do not fit. */
  take(bytes: number): boolean
  giveBack(bytes: number): void
}

/** Messages and bytes that one backlog holds at most. */
export interface BacklogLimits {
  readonly messages: number
  readonly bytes: number
}

/** Bounds of whatever waits for one subscription, or for the subscribe requests of one socket. */
export const BACKLOG: BacklogLimits = { messages: 10_000, bytes: 8 * 1024 * 1024 }

/** Bytes that a message takes in memory besides its text. */
const OVERHEAD = 64

/** A queue that refuses what is above its limits, or above a shared budget. */
export class Backlog<T> {
  readonly #limits: BacklogLimits
  readonly #budget: ByteBudget | null
  #items: T[] = []
  #bytes = 0

  constructor(budget: ByteBudget | null, limits = BACKLOG) {
    this.#limits = limits
    this.#budget = budget
  }

  /** Keeps an item of so many bytes; false when there is no room for it. */
  push(item: T, bytes: number): boolean {
    const size = bytes + OVERHEAD
    if (this.#items.length >= this.#limits.messages || this.#bytes + size > this.#limits.bytes) return false
    if (this.#budget?.take(size) === false) return false
    this.#items.push(item)
    this.#bytes += size
    return true
  }

  /** Empties it, and gives what it held, in order. */
  drain(): T[] {
    const items = this.#items
    this.#items = []
    if (this.#bytes > 0) this.#budget?.giveBack(this.#bytes)
    this.#bytes = 0
    return items
  }
}
