/**
 * The pauses of a route. A complaint that was read from a text pauses it for the caller whose call drew it: the text may be the
 * caller's own words. It holds for everybody once two callers drew one, or the HTTP status or a probe says the same.
 */
import { ByCaller, SPEAK_FOR_ALL } from './by-caller.ts'
import { Pause } from './pause.ts'
import type { Complaint } from './pause.ts'

/** A complaint of an upstream. */
export interface Complained {
  readonly about: Complaint
  /** Milliseconds of pause that the upstream asked for; 0 when it did not say. */
  readonly asked: number
  /** `status`: the HTTP status says so. `text`: it was read from a body. */
  readonly from: 'status' | 'text'
}

/** Active or not by caller. Times are in milliseconds of a monotonic clock. */
export class RoutePauses {
  readonly #pauses = new ByCaller(() => new Pause())
  /** Whether an HTTP 429 began the one for everybody: the upstream's own wish, which holds for the last route too. */
  #isWish = false

  /** Whether calls of this caller stay away; without one everybody's. */
  isActive(now: number, caller?: string): boolean {
    if (this.#pauses.everybody.isActive(now)) return true
    return caller !== undefined && this.#pauses.of(caller)?.isActive(now) === true
  }

  /** Whether even the last route able to serve is left alone. */
  isBinding(now: number): boolean {
    return this.#isWish && this.#pauses.everybody.isActive(now)
  }

  /** Milliseconds left of everybody's, and what it is about. */
  left(now: number): number {
    return this.#pauses.everybody.left(now)
  }

  get about(): Complaint {
    return this.#pauses.everybody.why
  }

  /** Callers that are kept away while others are served. */
  keptAway(now: number): number {
    return this.#pauses.count(pause => pause.isActive(now))
  }

  /** Takes in what a call of this caller drew; without one a probe of ours. */
  complain({ about, asked, from }: Complained, now: number, caller?: string): void {
    const { everybody } = this.#pauses
    if (caller !== undefined && from === 'text') {
      this.#pauses.make(caller).begin(asked, about, now)
      if (this.keptAway(now) < SPEAK_FOR_ALL) return
    }
    const wish = about === 'limited' && from === 'status'
    this.#isWish = everybody.isActive(now) ? this.#isWish || wish : wish
    everybody.begin(asked, about, now)
  }
}
