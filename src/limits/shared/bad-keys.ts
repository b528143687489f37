/**
 * Bad keys by address, over all processes of a machine. Nobody waits for the others: each one is counted now, and what the store says of it
 * holds for the next. An address with few of them is no matter of the others, so that a scan of addresses does not fill the store.
 */
import { BoundedCache } from '../bounded-cache.ts'
import { refuse } from '../../refusal/refusal.ts'
import type { Refusal } from '../../refusal/refusal.ts'
import { ADDRESSES, LIMIT } from '../bad-keys.ts'
import { newBucket, refill, take } from '../bucket.ts'
import type { Bucket } from '../bucket.ts'
import type { Asking } from './asking.ts'
import type { Part } from './part.ts'

/** Of its part of the limit, what a process counts by itself. */
const OWN = 1 / 4

/** What this process has seen of an address. */
interface Address {
  readonly bucket: Bucket
  /** Whether the store knows of it. */
  isShared: boolean
}

/** Counts those of one process, each with those of the others in mind. */
export class SharedBadKeys {
  readonly #asking: Asking
  /** How many of an address the store does not hear of. */
  readonly #own: number
  readonly #addresses = new BoundedCache<Address>(ADDRESSES)

  constructor(asking: Asking, processes: number) {
    this.#asking = asking
    this.#own = (LIMIT.burst / processes) * OWN
  }

  /** Counts one; a refusal once there were too many. */
  count(address: string, now: number): Refusal | null {
    const known = this.#addresses.get(address) ?? { bucket: newBucket(LIMIT, now), isShared: false }
    this.#addresses.set(address, known)
    const { bucket } = known
    refill(bucket, LIMIT, now)
    const left = known.isShared ? this.#asking.level(partOf(address, 0)) : LIMIT.burst
    if (Math.min(left, bucket.tokens) >= LIMIT.burst) known.isShared = false
    if (left < 1) return tooMany(Math.max(1, Math.ceil(((1 - left) * 1000) / LIMIT.perSecond)))
    const wait = take(bucket, LIMIT, 1, now)
    if (wait > 0) return tooMany(wait)
    this.#share(address, known)
    return null
  }

  #share(address: string, known: Address): void {
    const spent = LIMIT.burst - known.bucket.tokens
    if (!known.isShared && spent <= this.#own) return
    const part = partOf(address, known.isShared ? 1 : Math.ceil(spent))
    this.#asking.spend(part)
    void this.#asking.ask(part)
    known.isShared = true
  }
}

function partOf(address: string, units: number): Part {
  return { key: `{address ${address}}:bad-keys`, limit: LIMIT, units }
}

function tooMany(retryAfterMs: number): Refusal {
  return refuse('too_many_bad_keys', undefined, { retryAfterMs })
}
