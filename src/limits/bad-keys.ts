/**
 * Throttles guessing: a few bad keys a minute from one address, then 429; good keys are never counted. The first of an address are counted in the
 * process, and are no matter of the others: a scan of addresses does not fill the store. From then on each is taken from a bucket that all share.
 */
import type { MaybePromise } from '../ports/maybe-promise.ts'
import { BoundedCache } from './bounded-cache.ts'
import { refuse } from '../refusal/refusal.ts'
import type { Refusal } from '../refusal/refusal.ts'
import { newBucket, refill, take } from './bucket.ts'
import type { Bucket } from './bucket.ts'
import type { Buckets } from './buckets.ts'
import type { Part, Taken } from './part.ts'

/** What one address may get wrong. */
const LIMIT = { perSecond: 20 / 60, burst: 20 }
/** Addresses that are remembered. */
const ADDRESSES = 100_000
/** Of its part of the limit, what a process counts by itself. */
const OWN = 1 / 4

/** What this process has seen of an address. */
interface Address {
  readonly bucket: Bucket
  /** Whether the store knows of it. */
  isShared: boolean
}

/** Counts those of one process, each with those of the others in mind. Times are milliseconds. */
export class BadKeys {
  readonly #buckets: Buckets
  /** How many of an address the store does not hear of. */
  readonly #own: number
  readonly #addresses = new BoundedCache<Address>(ADDRESSES)

  constructor(buckets: Buckets, processes: number) {
    this.#buckets = buckets
    this.#own = (LIMIT.burst / processes) * OWN
  }

  /** Counts one; a refusal once there were too many. */
  count(address: string, now: number): MaybePromise<Refusal | null> {
    const known = this.#addresses.get(address) ?? { bucket: newBucket(LIMIT, now), isShared: false }
    this.#addresses.set(address, known)
    const { bucket } = known
    refill(bucket, LIMIT, now)
    if (Math.min(this.#buckets.level(partOf(address, 0)), bucket.tokens) >= LIMIT.burst)
      known.isShared = false
    const before = LIMIT.burst - bucket.tokens
    take(bucket, LIMIT, 1, now)
    if (!known.isShared && before + 1 <= this.#own) return null
    if (!known.isShared && before > 0) this.#buckets.spend(partOf(address, Math.ceil(before)))
    known.isShared = true
    const taken = this.#buckets.take(partOf(address, 1), this.#buckets.now())
    return taken instanceof Promise ? taken.then(tooMany) : tooMany(taken)
  }
}

function partOf(address: string, units: number): Part {
  return { key: `{address ${address}}:bad-keys`, limit: LIMIT, units }
}

function tooMany(wait: Taken): Refusal | null {
  return wait === 0 ? null : refuse('too_many_bad_keys', undefined, { retryAfterMs: wait ?? 0 })
}
