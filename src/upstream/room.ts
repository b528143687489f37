/** What an operator lets us send to a route at a time and in a second. */

/** The limits of routes.yaml; null is none. */
export interface RoomLimits {
  readonly inFlight: number | null
  readonly perSecond: number | null
}

/** Counts what is sent; a full route counts as not able. */
export class Room {
  inFlight = 0
  readonly #limits: RoomLimits
  #tokens: number
  #at = 0

  constructor(limits: RoomLimits) {
    this.#limits = limits
    this.#tokens = limits.perSecond ?? 0
  }

  /** Whether one more call may be sent. `now` in milliseconds. */
  fits(now: number): boolean {
    const { inFlight, perSecond } = this.#limits
    if (inFlight !== null && this.inFlight >= inFlight) return false
    if (perSecond === null) return true
    this.#tokens = Math.min(perSecond, this.#tokens + (Math.max(0, now - this.#at) * perSecond) / 1000)
    this.#at = now
    return this.#tokens >= 1
  }

  enter(): void {
    this.inFlight += 1
    this.#tokens -= 1
  }

  leave(): void {
    this.inFlight -= 1
  }
}
