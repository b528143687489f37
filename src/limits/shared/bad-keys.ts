/**
 * Bad keys by address, over all processes. The first of an address are counted here, and are no matter of the others: a scan of addresses does not fill
 * the store. From then on each is taken from a bucket that all share, as a call takes from a rate.
 */
import type { MaybePromise } from '../../ports/maybe-promise.ts'
import { BoundedCache } from '../bounded-cache.ts'
import { refuse } from '../../refusal/refusal.ts'
import type { Refusal } from '../../refusal/refusal.ts'
import { ADDRESSES, LIMIT } from '../bad-keys.ts'
import type { BadKeyCounter } from '../bad-keys.ts'
import { newBucket, refill, take } from '../bucket.ts'
import type { Bucket } from '../bucket.ts'
import type { Asking } from './asking.ts'
import type { Part, Taken } from './part.ts'

/** Of its part of the limit, what a process counts by itself. */
const OWN = 1 / 4

/** What this process has seen of an address. */
interface Address {
  readonly bucket: Bucket
  /** Whether the store knows of it. */
  isShared: boolean
}

/** Counts those of one process, each with those of the others in mind. */
export class SharedBadKeys implements BadKeyCounter {
  readonly #asking: Asking
  /** How many of an address the store does not hear of. */
  readonly #own: number
  readonly #addresses = new BoundedCache<Address>(ADDRESSES)

  constructor(asking: Asking, processes: number) {
    this.#asking = asking
    this.#own = (LIMIT.burst / processes) * OWN
  }

  count(address: string, now: number): MaybePromise<Refusal | null> {
    const known = this.#addresses.get(address) ?? { bucket: newBucket(LIMIT, now), isShared: false }
    this.#addresses.set(address, known)
    const { bucket } = known
    refill(bucket, LIMIT, now)
    if (Math.min(this.#asking.level(partOf(address, 0)), bucket.tokens) >= LIMIT.burst) known.isShared = false
    const before = LIMIT.burst - bucket.tokens
    take(bucket, LIMIT, 1, now)
    if (!known.isShared && before + 1 <= this.#own) return null
    if (!known.isShared && before > 0) this.#asking.spend(partOf(address, Math.ceil(before)))
    known.isShared = true
    const taken = this.#asking.take(partOf(address, 1))
    return taken instanceof Promise ? taken.then(tooMany) : tooMany(taken)
  }
}

function partOf(address: string, units: number): Part {
  return { key: `{address ${address}}:bad-keys`, limit: LIMIT, units }
}

function tooMany(wait: Taken): Refusal | null {
  return wait === 0 ? null : refuse('too_many_bad_keys', undefined, { retryAfterMs: wait ?? 0 })
}
