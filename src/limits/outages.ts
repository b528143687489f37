/** Whether the store of shared buckets is there, and from when on each process gives its own part of them instead. */
import type { Alone } from './share.ts'

/** What it goes by. What a reload may change is read each time. */
export interface OutageOptions extends Omit<Alone, 'outage'> {
  /**
   * Milliseconds in which all processes find a store that is there again: until then each keeps to its part of a quota, as the store does not know yet
   * what the others have given of theirs. Default: at once.
   */
  readonly settles?: number
}

/** One process's view of the store. Times are milliseconds of one clock. */
export class Outages {
  readonly #options: OutageOptions
  #isAway = false
  /** Messages in a row that were not answered. */
  #failures = 0
  #count = 0
  #settledAt = -Infinity

  constructor(options: OutageOptions) {
    this.#options = options
  }

  /** Whether nobody can be asked. */
  get isAway(): boolean {
    return this.#isAway
  }

  /** How buckets are given while nobody can be asked; null where the store is there. */
  get alone(): Alone | null {
    return this.#isAway ? this.#part() : null
  }

  /** How much of a quota each takes at most while not all others have found the store; null where it is known to all, or away. */
  settling(now: number): Alone | null {
    return !this.#isAway && now < this.#settledAt ? this.#part() : null
  }

  /** The store has answered. */
  found(now: number): void {
    if (!this.#isAway) return
    const { settles = 0, away } = this.#options
    // A single unanswered message is not an outage of all processes, and with `closed` nothing was given that the store does not know.
    if (this.#failures > 1 && away !== 'closed') this.#settledAt = now + settles
    this.#isAway = false
    this.#failures = 0
  }

  /** It has not. */
  lost(now: number): void {
    this.#failures += 1
    if (this.#isAway) return
    this.#isAway = true
    // One that is lost again before all have found it was away all the time.
    if (now >= this.#settledAt) this.#count += 1
  }

  #part(): Alone {
    const { processes, away } = this.#options
    return { processes, ...(away !== undefined && { away }), outage: this.#count }
  }
}
