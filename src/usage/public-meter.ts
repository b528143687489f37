/** The public route's limits: counted per client address, billed to nobody. */
import { BoundedCache } from '../cache/bounded-cache.ts'
import { refuse } from '../jsonrpc/refusal.ts'
import type { Refusal } from '../jsonrpc/refusal.ts'
import { newBucket, putBack, rateState, take } from './bucket.ts'
import type { Bucket, RateLimit, RateState } from './bucket.ts'

/** Addresses remembered; the least recent ones start afresh beyond that. */
const ADDRESSES = 100_000

/** One bucket per address. */
export class PublicMeter {
  readonly #buckets = new BoundedCache<Bucket>(ADDRESSES)

  /** Takes `cost` for an address, or refuses. */
  admit(limit: RateLimit | null, address: string, cost: number, now: number): Refusal | null {
    if (limit === null) return null
    const wait = take(this.#bucketOf(address, limit, now), limit, cost, now)
    return wait === 0 ? null : rateLimited(wait, limit.perSecond)
  }

  giveBack(limit: RateLimit | null, address: string, cost: number): void {
    const bucket = this.#buckets.get(address)
    if (limit !== null && bucket !== undefined) putBack(bucket, limit, cost)
  }

  /** What the rate headers of a reply say. */
  rate(limit: RateLimit | null, address: string, now: number): RateState | null {
    return limit === null ? null : rateState(this.#bucketOf(address, limit, now), limit, now)
  }

  #bucketOf(address: string, limit: RateLimit, now: number): Bucket {
    const known = this.#buckets.get(address)
    if (known !== undefined) return known
    const fresh = newBucket(limit, now)
    this.#buckets.set(address, fresh)
    return fresh
  }
}

/** The refusal of a call that has to wait. */
export function rateLimited(retryAfterMs: number, limit: number): Refusal {
  return refuse('rate_limited', `Rate limit exceeded: ${limit} requests per second`, { retryAfterMs, limit })
}
