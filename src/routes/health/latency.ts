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
