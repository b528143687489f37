/** What is in flight at a route: calls that hang, and how long calls take. */

/** Unanswered calls that have to be old. */
const MANY = 3
/** How old: this many times the 99th percentile, and never less than the least (milliseconds of a monotonic clock). */
const TIMES = 4
const LEAST = 1_000

/** One unanswered call. */
export interface Unanswered {
  readonly begun: number
  readonly caller: string
  older: Unanswered | null
  newer: Unanswered | null
}

/**
 * The calls that a route has not answered yet: several old ones say that it hangs before any of them times out. Those of one caller say so for that
 * caller, those of two for everybody. Oldest first, and linked, because each is added at the one end and taken out anywhere.
 */
export class HangDetector {
  #oldest: Unanswered | null = null
  #newest: Unanswered | null = null
  #count = 0

  /** Remembers a call until `end`. `now` in milliseconds. */
  begin(now: number, caller: string): Unanswered {
    const call: Unanswered = { begun: now, caller, older: this.#newest, newer: null }
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

  /** Whether too many calls are older than the route usually takes; for `caller`, or without one for everybody. */
  isHanging(now: number, p99: number | null, caller?: string): boolean {
    if (this.#count < MANY) return false
    const bound = now - Math.max(LEAST, TIMES * (p99 ?? LEAST))
    let [old, own, several] = [0, 0, false]
    for (let call = this.#oldest; call !== null && call.begun <= bound; call = call.newer) {
      old += 1
      if (call.caller === caller) own += 1
      if (call.caller !== this.#oldest?.caller) several = true
      if (own >= MANY || (several && old >= MANY)) return true
    }
    return false
  }

  /** Whether the calls of some caller are too old. */
  isSuspect(now: number, p99: number | null): boolean {
    return this.#oldest !== null && this.isHanging(now, p99, this.#oldest.caller)
  }
}

/** How long a route takes to answer, in milliseconds. */

const KEPT = 128
/** Samples between two sortings: first the one number, from `KEPT` on the other. */
const REFRESH_EARLY = 16
const REFRESH = 64
/** Share of the newest sample in the moving average. */
const WEIGHT = 0.1
/** A sample counts there as at most so many times the average, and this much more: a few slow calls of one caller are not the route's pace. */
const MOST = 3
const MORE = 20

/** The last answers of a route. */
export class Latency {
  /** Moving average; 0 until the first answer. */
  average = 0
  /** Quantiles of the last answers; null until there are enough to say. */
  p95: number | null = null
  p99: number | null = null
  readonly #samples = new Float64Array(KEPT)
  #next = 0

  add(ms: number): void {
    this.average +=
      this.average === 0 ? ms : (Math.min(ms, this.average * MOST + MORE) - this.average) * WEIGHT
    this.#samples[this.#next % KEPT] = ms
    this.#next += 1
    if (this.#next % (this.#next < KEPT ? REFRESH_EARLY : REFRESH) !== 0) return
    const sorted = this.#samples.slice(0, this.#next).sort()
    this.p95 = sorted[Math.floor(sorted.length * 0.95)] ?? null
    this.p99 = sorted[Math.floor(sorted.length * 0.99)] ?? null
  }
}
