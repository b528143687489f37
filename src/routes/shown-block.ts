/** The newest block that answers of a route have shown: it has come that far, whatever a probe that was sent before says a moment later. */

/** Milliseconds for which it counts: longer than a floor lasts, and than probes are apart. */
const LASTS = 10_000

/** Times are in milliseconds of a monotonic clock. */
export class ShownBlock {
  #number = -1
  #until = -Infinity

  show(number: number, now: number): void {
    if (number < this.#number && now < this.#until) return
    this.#number = number
    this.#until = now + LASTS
  }

  /** Whether it has shown that block, or a newer one. */
  hasReached(number: number, now: number): boolean {
    return this.#number >= number && now < this.#until
  }
}
