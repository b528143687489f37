/**
 * How many calls may begin at a route in a second (`limits.perSecond` of routes.yaml). Nobody waits for the others: each process goes by what the store
 * said last and takes its share of what comes back. What all together take too much they pay back.
 */
import type { Buckets } from './buckets.ts'
import { newBucket, refill } from './bucket.ts'
import type { Bucket } from './bucket.ts'
import type { RateLimit } from '../ports/limits.ts'
import type { Part } from './part.ts'

/** Counts what is sent. What has to be sent is, and counts afterwards. Times are milliseconds of the monotonic clock. */
export interface RouteRate {
  /** Whether one more may be sent. */
  fits(now: number): boolean
  take(): void
}

/** That of one process, or one process's part. */
export class OwnRate implements RouteRate {
  readonly #limit: RateLimit
  readonly #bucket: Bucket

  constructor(perSecond: number) {
    this.#limit = { perSecond, burst: Math.max(1, perSecond) }
    this.#bucket = newBucket(this.#limit, 0)
  }

  fits(now: number): boolean {
    refill(this.#bucket, this.#limit, now)
    return this.#bucket.tokens >= 1
  }

  take(): void {
    this.#bucket.tokens -= 1
  }
}

/** That of all processes, as one of them keeps to it. */
export class SharedRate implements RouteRate {
  readonly #buckets: Buckets
  readonly #one: Part
  /** What this process may send while the store is away. */
  #alone: OwnRate | null = null
  readonly #perSecond: number
  readonly #processes: () => number

  constructor(buckets: Buckets, route: string, perSecond: number, processes: () => number) {
    this.#buckets = buckets
    const limit = { perSecond, burst: Math.max(1, perSecond) }
    // Another rate is another bucket: what was sent under the one before is no debt of it.
    this.#one = { key: `{route:${route}}:${perSecond}`, limit, units: 1 }
    this.#perSecond = perSecond
    this.#processes = processes
  }

  fits(now: number): boolean {
    if (this.#buckets.isAway)
      return (this.#alone ??= new OwnRate(this.#perSecond / this.#processes())).fits(now)
    this.#alone = null
    return this.#buckets.own(this.#one) >= 1
  }

  take(): void {
    if (this.#alone !== null && this.#buckets.isAway) this.#alone.take()
    else this.#buckets.spend(this.#one)
  }
}
