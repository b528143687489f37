/**
 * Keeps calls away from what fails, and lets one through now and then to see (design, "Routing"). Times are in milliseconds of a
 * monotonic clock.
 */
/** Failures in a row that open the breaker. */
const OPEN_AFTER = 3
/** Results that the error rate is taken from, how many there have to be, and the share of failures that opens it. */
const WINDOW = 20
const ENOUGH = 10
const TOO_MANY = 0.5
/** The first pause, doubled up to the longest while tests fail. */
const FIRST_PAUSE = 5_000
const LONGEST_PAUSE = 300_000

/** closed: calls go here; open: none do; half-open: one may, to see. */
export type BreakerState = 'closed' | 'open' | 'half-open'

/** A failure with no success after it. */
export interface LastFailure {
  readonly why: string
  /** Milliseconds since then. */
  readonly ms: number
}

/** How a breaker that is not closed stands, as one process tells another; milliseconds. */
export interface BreakerStanding {
  /** Its last pause, and what is left of it. */
  readonly pause: number
  readonly left: number
  /** Whether a probe was answered since it opened. */
  readonly isVouchedFor: boolean
  /** What failed last. */
  readonly last: LastFailure | null
}

/** One breaker. */
export class Breaker {
  #inARow = 0
  #recent: boolean[] = []
  #pause = 0
  #openUntil = 0
  #testing = false
  /** Whether a probe was answered since it opened. */
  #isVouchedFor = false

  state(now: number): BreakerState {
    if (this.#pause === 0) return 'closed'
    return now < this.#openUntil ? 'open' : 'half-open'
  }

  /** Milliseconds until a call may try; 0 when one may now. */
  retryIn(now: number): number {
    return this.#pause === 0 ? 0 : Math.max(0, this.#openUntil - now)
  }

  /** Its last pause; 0 while it is closed. */
  get pause(): number {
    return this.#pause
  }

  /** Is open for at least as long as that of another process. */
  match({ pause, left, isVouchedFor }: BreakerStanding, now: number): void {
    if (this.#testing) return
    this.#isVouchedFor = isVouchedFor
    this.#pause = Math.max(this.#pause, pause)
    this.#openUntil = Math.max(this.#openUntil, now + left)
  }

  /** Whether a probe was answered since it opened. */
  get isVouchedFor(): boolean {
    return this.#isVouchedFor
  }

  /** Whether its pause is over, and nothing has shown yet that the route serves again. */
  isUntested(now: number): boolean {
    return this.state(now) === 'half-open' && !this.#isVouchedFor
  }

  /** Whether no test has failed since it opened. */
  get isFirstPause(): boolean {
    return this.#pause === FIRST_PAUSE
  }

  /** Whether it was closed for so long that nothing is left to remember. */
  get isQuiet(): boolean {
    return this.#pause === 0 && this.#recent.length >= WINDOW && this.#recent.every(good => good)
  }

  /** One call goes through to see; until it is back the breaker is open to others. */
  beginTest(now: number): void {
    this.#openUntil = now + FIRST_PAUSE
    this.#testing = true
  }

  /** Lets the next call through to see, whatever is left of the pause. */
  halfOpen(now: number): void {
    if (this.#pause === 0 || this.#testing) return
    this.#openUntil = Math.min(this.#openUntil, now)
    this.#isVouchedFor = true
  }

  succeeded(): void {
    this.#inARow = 0
    this.#note(true)
    if (this.#pause !== 0) this.#recent = []
    this.#pause = 0
    this.#testing = false
  }

  failed(now: number): void {
    this.#inARow += 1
    this.#note(false)
    if (this.#pause !== 0 || this.#inARow >= OPEN_AFTER || this.#rate() > TOO_MANY) this.open(now)
  }

  /** Opens it, or opens it again for twice as long. */
  open(now: number): void {
    // Calls that were in flight when it opened fail as well; they do not lengthen the pause.
    if (this.#pause !== 0 && now < this.#openUntil && !this.#testing) return
    this.#testing = false
    this.#isVouchedFor = false
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
