/**
 * Keeps calls away from a route that fails, and lets one through now and then to see (design, "Routing"). Times are in
 * milliseconds.
 */

/** Failures in a row that open the breaker. */
const OPEN_AFTER = 3
/** Results looked at for the error rate, how many there have to be, and the share of failures that opens it. */
const WINDOW = 20
const ENOUGH = 10
const TOO_MANY = 0.5
/** The first pause, doubled up to the longest while probes fail. */
const FIRST_PAUSE = 5_000
const LONGEST_PAUSE = 300_000

/** closed: calls go here; open: none do; half-open: one may, to see. */
export type BreakerState = 'closed' | 'open' | 'half-open'

/** One route's breaker. */
export class Breaker {
  #inARow = 0
  #recent: boolean[] = []
  #pause = 0
  #openUntil = 0
  #probing = false
  /** What went wrong last, as a word for the operator; null while all is well. */
  lastError: string | null = null

  state(now: number): BreakerState {
    if (this.#pause === 0) return 'closed'
    return now < this.#openUntil ? 'open' : 'half-open'
  }

  /** One call goes through to see; until it is back the breaker is open to others. */
  beginProbe(now: number): void {
    this.#openUntil = now + FIRST_PAUSE
    this.#probing = true
  }

  succeeded(): void {
    this.#inARow = 0
    this.#note(true)
    if (this.#pause !== 0) this.#recent = []
    this.#pause = 0
    this.#probing = false
    this.lastError = null
  }

  failed(why: string, now: number): void {
    this.lastError = why
    this.#inARow += 1
    this.#note(false)
    if (this.#pause !== 0 || this.#inARow >= OPEN_AFTER || this.#rate() > TOO_MANY) this.#open(now)
  }

  #open(now: number): void {
    // Calls that were under way when it opened fail as well; they do not lengthen the pause.
    if (this.#pause !== 0 && now < this.#openUntil && !this.#probing) return
    this.#probing = false
    this.#pause = this.#pause === 0 ? FIRST_PAUSE : Math.min(this.#pause * 2, LONGEST_PAUSE)
    this.#openUntil = now + this.#pause
  }

  #note(good: boolean): void {
    this.#recent.push(good)
    if (this.#recent.length > WINDOW) this.#recent.shift()
  }

  #rate(): number {
    const failures = this.#recent.filter(good => !good).length
    return this.#recent.length < ENOUGH ? 0 : failures / this.#recent.length
  }
}
