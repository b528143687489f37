/** Calls that a route has not answered yet: many old ones say that it hangs before any of them times out. */

/** Unanswered calls that have to be old. */
const MANY = 3
/** How old: this many times the 99th percentile, and never less than the least (milliseconds). */
const TIMES = 4
const LEAST = 1_000

/** The begin of each unanswered call, oldest first. */
export class Outstanding {
  readonly #begun = new Map<symbol, number>()

  /** Remembers a call; returns how to forget it. */
  begin(now: number): () => void {
    const call = Symbol()
    this.#begun.set(call, now)
    return () => {
      this.#begun.delete(call)
    }
  }

  /** Whether too many calls are older than the route usually takes. */
  isHanging(now: number, p99: number | null): boolean {
    if (this.#begun.size < MANY) return false
    const bound = now - Math.max(LEAST, TIMES * (p99 ?? LEAST))
    let old = 0
    for (const begun of this.#begun.values()) {
      if (begun > bound) return false
      old += 1
      if (old === MANY) return true
    }
    return false
  }
}
