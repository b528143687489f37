/** How many calls may begin at a route in a second (`limits.perSecond` of routes.yaml). */
import { newBucket, refill } from './bucket.ts'
import type { Bucket } from './bucket.ts'
import type { RateLimit } from '../ports/limits.ts'

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
