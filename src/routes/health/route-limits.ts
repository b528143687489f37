/** What an operator lets us send to a route at a time and in a second. */
import { DIVISIBLE_FROM, FairShare } from '../../limits/fair-share.ts'

/** The limits of routes.yaml; null is none. */
export interface RouteBounds {
  readonly inFlight: number | null
  readonly perSecond: number | null
}

/** Counts what is sent; a full route counts as not able, and so does one for a caller who holds its share of it. */
export class RouteLimits {
  inFlight = 0
  readonly #limits: RouteBounds
  readonly #share: FairShare | null
  #tokens: number
  #at = 0

  constructor(limits: RouteBounds) {
    this.#limits = limits
    const { inFlight } = limits
    this.#share = inFlight === null ? null : new FairShare(() => inFlight, { from: DIVISIBLE_FROM })
    this.#tokens = limits.perSecond ?? 0
  }

  /** Whether one more call of this caller may be sent; without one, of somebody who holds nothing. `now` in milliseconds. */
  fits(now: number, caller?: string): boolean {
    const { perSecond } = this.#limits
    if (this.#share?.fits(1, caller) === false) return false
    if (perSecond === null) return true
    this.#tokens = Math.min(perSecond, this.#tokens + (Math.max(0, now - this.#at) * perSecond) / 1000)
    this.#at = now
    return this.#tokens >= 1
  }

  enter(caller?: string): void {
    this.inFlight += 1
    this.#share?.take(1, caller)
    this.#tokens -= 1
  }

  leave(caller?: string): void {
    this.inFlight -= 1
    this.#share?.giveBack(1, caller)
  }
}
