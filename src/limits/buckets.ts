/** Buckets that calls take from, and the buckets of all processes of this machine in the memory of one of them. */
import type { Clock } from '../ports/clock.ts'
import type { LimitAnswer, LimitQuestion, LimitStore, QuotaOf } from '../ports/limit-store.ts'
import type { RateLimit } from '../ports/limits.ts'
import type { MaybePromise } from '../ports/maybe-promise.ts'
import { BoundedCache } from './bounded-cache.ts'
import { countActive, newBucket, putBack, refill, take } from './bucket.ts'
import type { Bucket, Heard } from './bucket.ts'
import type { Part, Taken } from './part.ts'
import type { UsedInWindow } from './window.ts'

/** The part of what is left of a quota that all processes together may hold to spare. */
export const SPARED = 1 / 32
/** Buckets kept of accounts and routes, and of addresses; who was not heard of for long starts with a full one. */
const KEPT = 400_000
const KEPT_ADDRESSES = 200_000
/** How the keys of addresses begin. */
export const ADDRESS = '{address '

/** What calls take from, as one process sees it. */
export interface Buckets {
  /** Whether what the processes share cannot be reached. */
  readonly isAway: boolean
  /** Milliseconds of its clock, for those who take several parts at once. */
  now(): number
  /** Takes a part, or nothing of it. */
  take(part: Part, now: number): MaybePromise<Taken>
  /** Takes a part whether or not there is as much. */
  spend(part: Part): void
  /** Puts back what was taken. */
  giveBack(part: Part): void
  /** Units that a bucket holds, as far as is known here. */
  level(part: Part): number
  /** This process's part of them. */
  own(part: Part): number
  /** Units that are left for everybody, now; null where a quota cannot be read. */
  ask(part: Part): MaybePromise<number | null>
}

/** A bucket, and who takes from it. */
interface Kept extends Bucket {
  /** Units that it holds at most, as its last question said. */
  burst: number
  heard: Heard | null
}

/** Buckets for several processes, each with its own way to them. */
export interface BucketsOfAll {
  /** The buckets as the process of that name sees them. */
  of(process: string): LimitStore
  /** Whether a bucket is there: otherwise the ledger is read for what was used of its quota. */
  has(key: string): boolean
}

/** Keeps the level of each bucket. Only its own clock counts, whatever the clocks of those who ask say. */
export class LocalBuckets implements Buckets, BucketsOfAll {
  readonly isAway = false
  readonly #buckets = new BoundedCache<Kept>(KEPT)
  /** Apart, as strangers may have any number of them: they push out none of an account. */
  readonly #addresses = new BoundedCache<Kept>(KEPT_ADDRESSES)
  /** The last quota of each account: the length of its windows, and the key of its bucket. */
  readonly #quotas = new BoundedCache<{ readonly every: number | 'month'; readonly key: string }>(KEPT)
  readonly #clock: Pick<Clock, 'monotonic'>
  readonly #usedInWindow: UsedInWindow

  constructor(clock: Pick<Clock, 'monotonic'>, usedInWindow: UsedInWindow) {
    this.#clock = clock
    this.#usedInWindow = usedInWindow
  }

  now(): number {
    return this.#clock.monotonic()
  }

  take({ key, limit, units, quota }: Part, now: number): Taken {
    const bucket = this.#cacheOf(key).get(key) ?? this.#openAlone(key, limit, quota, now)
    if (bucket === null) return null
    if (bucket.burst !== limit.burst) adapt(bucket, limit)
    return take(bucket, limit, units, now)
  }

  spend({ key, limit, units }: Part): void {
    const now = this.now()
    const bucket = this.#cacheOf(key).get(key) ?? this.#keep(key, limit, now, 0)
    refill(bucket, limit, now)
    bucket.tokens -= units
  }

  giveBack({ key, limit, units }: Part): void {
    const bucket = this.#cacheOf(key).get(key)
    if (bucket !== undefined) putBack(bucket, limit, units)
  }

  level({ key, limit }: Part): number {
    const bucket = this.#cacheOf(key).get(key)
    if (bucket === undefined) return limit.burst
    refill(bucket, limit, this.now())
    return bucket.tokens
  }

  own(part: Part): number {
    return this.level(part)
  }

  ask(part: Part): number | null {
    return this.take({ ...part, units: 0 }, this.now()) === null ? null : this.level(part)
  }

  of(process: string): LimitStore {
    return { ask: questions => questions.map(question => this.#answer(process, question)) }
  }

  has(key: string): boolean {
    return this.#cacheOf(key).has(key)
  }

  #cacheOf(key: string): BoundedCache<Kept> {
    return key.startsWith(ADDRESS) ? this.#addresses : this.#buckets
  }

  #answer(
    process: string,
    { key, limit, spent, over, want, spare = 0, quota }: LimitQuestion,
  ): LimitAnswer | null {
    const now = this.now()
    const bucket = this.#cacheOf(key).get(key) ?? this.#open(key, limit, quota, now)
    if (bucket === null) return null
    adapt(bucket, limit)
    refill(bucket, limit, Math.max(bucket.at, now - over))
    bucket.tokens -= spent
    refill(bucket, limit, now)
    const active = countActive((bucket.heard ??= new Map<string, number>()), process, now)
    const wanted = Math.max(0, Math.min(want, bucket.tokens))
    const spared = Math.max(0, Math.min(spare, Math.floor(((bucket.tokens - wanted) * SPARED) / active)))
    bucket.tokens -= wanted + spared
    return { level: bucket.tokens, active, granted: wanted + spared }
  }

  /** For a call of this process, where no other one holds units that it may give back. */
  #openAlone(key: string, limit: RateLimit, quota: QuotaOf | undefined, now: number): Kept | null {
    const before = quota === undefined ? undefined : this.#quotas.get(quota.account)
    const bucket = this.#open(key, limit, quota, now)
    // What is taken from now on is not in the bucket of the windows before: should they come back, the ledger is read.
    if (bucket !== null && before !== undefined && before.every !== this.#quotas.get(quota!.account)!.every)
      this.#buckets.delete(before.key)
    return bucket
  }

  #open(key: string, limit: RateLimit, quota: QuotaOf | undefined, now: number): Kept | null {
    const used = quota === undefined ? 0 : this.#used(key, quota)
    return used === null ? null : this.#keep(key, limit, now, used)
  }

  #keep(key: string, limit: RateLimit, now: number, used: number): Kept {
    const bucket: Kept = { ...newBucket(limit, now), burst: limit.burst, heard: null }
    bucket.tokens -= used
    this.#cacheOf(key).set(key, bucket)
    return bucket
  }

  #used(key: string, { account, endpoint, window, every }: QuotaOf): number | null {
    if (endpoint !== undefined) return this.#usedInWindow(account, window, false, endpoint)
    const before = this.#quotas.get(account)
    const used = this.#usedInWindow(account, window, before !== undefined && before.every !== every)
    if (used !== null) this.#quotas.set(account, { every, key })
    return used
  }
}

/** A quota that was changed has used what it had used; a changed rate is another bucket. */
function adapt(bucket: Kept, { perSecond, burst }: RateLimit): void {
  if (perSecond === 0) bucket.tokens += burst - bucket.burst
  bucket.burst = burst
}
