/** What may be sent to a route: so many calls at once, and so many a second, as the operator says and its upstream bears. */
import { DIVISIBLE_FROM, FairShare } from '../limits/fair-share.ts'
import { OwnRate } from '../limits/route-rate.ts'
import type { RouteRate } from '../limits/route-rate.ts'
import { Pace } from './health/pace.ts'

/** The limits of routes.yaml; null is none. */
export interface RouteBounds {
  readonly inFlight: number | null
  readonly perSecond: number | null
}

/** How several processes keep to the limits of one route. */
export interface RouteSharing {
  /** Each gets as large a part of `inFlight`: those of this machine, and of as many machines as there are now. */
  readonly processes: number
  readonly machines?: number
  readonly rate: (route: string, perSecond: number) => RouteRate
}

/** A single process: nothing is divided. */
export const UNSHARED: RouteSharing = {
  processes: 1,
  rate: (_, perSecond) => new OwnRate(perSecond),
}

/** Counts what is sent; a full route counts as not able, and so does one for a caller who holds its share of it. */
export class RouteLimits {
  inFlight = 0
  /** What its upstream has shown to bear. */
  readonly pace = new Pace()
  /** Calls that may ever be in flight, were this the only machine; null where any number may. */
  readonly bound: number | null
  readonly #inFlight: number | null
  readonly #sharing: RouteSharing
  readonly #share: FairShare | null
  readonly #rate: RouteRate | null

  constructor(route: string, { inFlight, perSecond }: RouteBounds, sharing = UNSHARED) {
    this.#sharing = sharing
    this.#inFlight = inFlight
    this.bound = inFlight === null ? null : Math.ceil(inFlight / sharing.processes)
    this.#share =
      inFlight === null ? null : new FairShare(() => this.most ?? Infinity, { from: DIVISIBLE_FROM })
    this.#rate = perSecond === null ? null : sharing.rate(route, perSecond)
  }

  /** Calls that may be in flight; null where any number may. */
  get most(): number | null {
    const { processes, machines = 1 } = this.#sharing
    return this.#inFlight === null ? null : Math.ceil(this.#inFlight / (processes * machines))
  }

  /** Whether one more call of this caller may be sent; without one, of somebody who holds nothing. `now` in milliseconds. */
  fits(now: number, caller?: string): boolean {
    if (!this.pace.fits(now, caller)) return false
    return this.#share?.fits(1, caller) !== false && (this.#rate === null || this.#rate.fits(now))
  }

  enter(caller?: string): void {
    this.inFlight += 1
    this.#share?.take(1, caller)
    this.#rate?.take()
    this.pace.count(caller)
  }

  leave(caller?: string): void {
    this.inFlight -= 1
    this.#share?.giveBack(1, caller)
  }
}
