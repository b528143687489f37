/**
 * How many calls may begin at a route in a second, over all processes of all machines. Nobody waits for the others: each goes by what the store said
 * last and takes its share of what comes back. What all together take too much they pay back.
 */
import { OwnRate } from '../route-rate.ts'
import type { RouteRate } from '../route-rate.ts'
import type { Asking } from './asking.ts'
import type { Part } from './part.ts'

/** One process's side. */
export class SharedRate implements RouteRate {
  readonly #asking: Asking
  readonly #one: Part
  /** What this process may send while the store is away. */
  #alone: OwnRate | null = null
  readonly #perSecond: number
  readonly #processes: () => number

  constructor(asking: Asking, route: string, perSecond: number, processes: () => number) {
    this.#asking = asking
    const limit = { perSecond, burst: Math.max(1, perSecond) }
    // Another rate is another bucket: what was sent under the one before is no debt of it.
    this.#one = { key: `{route:${route}}:${perSecond}`, limit, units: 1 }
    this.#perSecond = perSecond
    this.#processes = processes
  }

  fits(now: number): boolean {
    if (this.#asking.isAway)
      return (this.#alone ??= new OwnRate(this.#perSecond / this.#processes())).fits(now)
    this.#alone = null
    return this.#asking.own(this.#one) >= 1
  }

  take(): void {
    if (this.#alone !== null && this.#asking.isAway) this.#alone.take()
    else this.#asking.spend(this.#one)
  }
}
