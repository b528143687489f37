/** Keeps calls away from a route that fails again and again, and lets one through now and then to see. */

/** Failures in a row that open the breaker. */
const OPEN_AFTER = 3
/** Milliseconds before the first probe; doubled up to LONGEST while probes fail. */
const FIRST_PAUSE = 5_000
const LONGEST_PAUSE = 300_000

/** Times are in milliseconds. */
export class Breaker {
  #failures = 0
  #pause = FIRST_PAUSE
  #openUntil = 0
  /** What went wrong last, as a word for the operator; null while all is well. */
  lastError: string | null = null

  /** Whether calls should go here now. After the pause one call is let through as a probe. */
  allows(now: number): boolean {
    return now >= this.#openUntil
  }

  succeeded(): void {
    this.#failures = 0
    this.#pause = FIRST_PAUSE
    this.#openUntil = 0
    this.lastError = null
  }

  failed(why: string, now: number): void {
    this.lastError = why
    this.#failures += 1
    if (this.#failures < OPEN_AFTER) return
    this.#openUntil = now + this.#pause
    this.#pause = Math.min(this.#pause * 2, LONGEST_PAUSE)
  }
}
