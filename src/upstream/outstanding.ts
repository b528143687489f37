/** Calls that a route has not answered yet: many old ones say that it hangs before any of them times out. */

/** Unanswered calls that have to be old. */
const MANY = 3
/** How old: this many times the 99th percentile, and never less than the least (milliseconds). */
const TIMES = 4
const LEAST = 1_000

/** One unanswered call. */
export interface Unanswered {
  readonly begun: number
  older: Unanswered | null
  newer: Unanswered | null
}

/** The unanswered calls, oldest first: linked, because each is added at the one end and taken out anywhere. */
export class Outstanding {
  #oldest: Unanswered | null = null
  #newest: Unanswered | null = null
  #count = 0

  /** Remembers a call until `end`. `now` in milliseconds. */
  begin(now: number): Unanswered {
    const call: Unanswered = { begun: now, older: this.#newest, newer: null }
    if (this.#newest === null) this.#oldest = call
    else this.#newest.newer = call
    this.#newest = call
    this.#count += 1
    return call
  }

  /** Forgets a call. */
  end(call: Unanswered): void {
    const { older, newer } = call
    if (older === null) this.#oldest = newer
    else older.newer = newer
    if (newer === null) this.#newest = older
    else newer.older = older
    // What is over must not keep the others alive.
    call.older = call.newer = null
    this.#count -= 1
  }

  /** Whether too many calls are older than the route usually takes. */
  isHanging(now: number, p99: number | null): boolean {
    if (this.#count < MANY) return false
    const bound = now - Math.max(LEAST, TIMES * (p99 ?? LEAST))
    let call = this.#oldest
    for (let old = 0; old < MANY; old += 1) {
      if (call === null || call.begun > bound) return false
      call = call.newer
    }
    return true
  }
}
