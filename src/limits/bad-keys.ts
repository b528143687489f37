/** Throttles guessing: a few bad keys a minute from one address, then 429; good keys are never counted. */
import { BoundedCache } from './bounded-cache.ts'
import type { MaybePromise } from '../ports/maybe-promise.ts'
import { refuse } from '../refusal/refusal.ts'
import type { Refusal } from '../refusal/refusal.ts'
import { newBucket, take } from './bucket.ts'
import type { Bucket } from './bucket.ts'

/** Counts bad keys by address. */
export interface BadKeyCounter {
  /** Counts one at a time in milliseconds; a refusal once there were too many. */
  count(address: string, now: number): MaybePromise<Refusal | null>
}

/** What one address may get wrong. */
export const LIMIT = { perSecond: 20 / 60, burst: 20 }
/** Addresses that are remembered. */
export const ADDRESSES = 100_000

/** Counts those of one process. */
export class BadKeys implements BadKeyCounter {
  readonly #buckets = new BoundedCache<Bucket>(ADDRESSES)

  count(address: string, now: number): Refusal | null {
    const bucket = this.#buckets.get(address) ?? newBucket(LIMIT, now)
    this.#buckets.set(address, bucket)
    const retryAfterMs = take(bucket, LIMIT, 1, now)
    return retryAfterMs === 0 ? null : refuse('too_many_bad_keys', undefined, { retryAfterMs })
  }
}
