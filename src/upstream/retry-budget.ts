/** Bounds the retries of a network, so that failing upstreams are not buried under repeated calls. */

/** Retries allowed: a share of recent calls, and some in any case. */
const SHARE = 0.2
const PER_SECOND = 10
/** Seconds that count as recent. */
const WINDOW = 10

interface Second {
  readonly at: number
  /** When its first call came, in milliseconds. */
  readonly since: number
  calls: number
  retries: number
}

/** The last seconds of one network. */
export class RetryBudget {
  readonly #seconds: Second[] = []

  /** Counts a client's call. `now` in milliseconds. */
  call(now: number): void {
    this.#second(now).calls += 1
  }

  /** Takes one retry; false when the budget is spent. */
  take(now: number): boolean {
    const second = this.#second(now)
    const calls = this.#seconds.reduce((sum, each) => sum + each.calls, 0)
    const retries = this.#seconds.reduce((sum, each) => sum + each.retries, 0)
    // In a burst after quiet only the seconds that were really there may be spent.
    const span = Math.max(1, (now - (this.#seconds[0]?.since ?? now)) / 1000)
    if (retries >= calls * SHARE + PER_SECOND * span) return false
    second.retries += 1
    return true
  }

  #second(now: number): Second {
    const at = Math.floor(now / 1000)
    while (this.#seconds[0] !== undefined && this.#seconds[0].at <= at - WINDOW) this.#seconds.shift()
    const last = this.#seconds.at(-1)
    if (last?.at === at) return last
    const fresh = { at, since: now, calls: 0, retries: 0 }
    this.#seconds.push(fresh)
    return fresh
  }
}
