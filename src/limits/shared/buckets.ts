/** The buckets of all processes of this machine, in the memory of one of them. */
import type { Clock } from '../../ports/clock.ts'
import type { LimitAnswer, LimitQuestion, LimitStore, QuotaOf } from '../../ports/limit-store.ts'
import type { RateLimit } from '../../ports/limits.ts'
import type { UsedInWindow } from '../account-meter.ts'
import { BoundedCache } from '../bounded-cache.ts'
import { newBucket, refill } from '../bucket.ts'
import type { Bucket } from '../bucket.ts'
import { countActive } from './heard.ts'
import type { Heard } from './heard.ts'

/** The part of what is left of a quota that all processes together may hold to spare. */
export const SPARED = 1 / 32
/** Buckets kept; who was not heard of for long starts with a full one. */
const KEPT = 400_000

/** A bucket, and who takes from it. */
interface Shared extends Bucket {
  /** Units that it holds at most, as its last question said. */
  burst: number
  readonly heard: Heard
}

/** Buckets for several processes, each with its own way to them. */
export interface BucketsOfAll {
  /** The buckets as the process of that name sees them. */
  of(process: string): LimitStore
  /** Whether a bucket is there: otherwise the ledger is read for what was used of its quota. */
  has(key: string): boolean
}

/** Keeps the level of each bucket. Only its own clock counts, whatever the clocks of those who ask say. */
export class SharedBuckets implements BucketsOfAll {
  readonly #buckets = new BoundedCache<Shared>(KEPT)
  /** Of each account, the length of its quota's windows. */
  readonly #every = new BoundedCache<{ readonly every: number | 'month' }>(KEPT)
  readonly #clock: Clock
  readonly #usedInWindow: UsedInWindow

  constructor(clock: Clock, usedInWindow: UsedInWindow) {
    this.#clock = clock
    this.#usedInWindow = usedInWindow
  }

  of(process: string): LimitStore {
    return { ask: questions => questions.map(question => this.#answer(process, question)) }
  }

  has(key: string): boolean {
    return this.#buckets.has(key)
  }

  #answer(
    process: string,
    { key, limit, spent, over, want, spare = 0, quota }: LimitQuestion,
  ): LimitAnswer | null {
    const now = this.#clock.monotonic()
    const bucket = this.#buckets.get(key) ?? this.#open(key, limit, quota, now)
    if (bucket === null) return null
    adapt(bucket, limit)
    refill(bucket, limit, Math.max(bucket.at, now - over))
    bucket.tokens -= spent
    refill(bucket, limit, now)
    const active = countActive(bucket.heard, process, now)
    const wanted = Math.max(0, Math.min(want, bucket.tokens))
    const spared = Math.max(0, Math.min(spare, Math.floor(((bucket.tokens - wanted) * SPARED) / active)))
    bucket.tokens -= wanted + spared
    return { level: bucket.tokens, active, granted: wanted + spared }
  }

  #open(key: string, limit: RateLimit, quota: QuotaOf | undefined, now: number): Shared | null {
    const used = quota === undefined ? 0 : this.#used(quota)
    if (used === null) return null
    const bucket = { ...newBucket(limit, now), burst: limit.burst, heard: new Map() }
    bucket.tokens -= used
    this.#buckets.set(key, bucket)
    return bucket
  }

  #used({ account, endpoint, window, every }: QuotaOf): number | null {
    if (endpoint !== undefined) return this.#usedInWindow(account, window, false, endpoint)
    const before = this.#every.get(account)
    const used = this.#usedInWindow(account, window, before !== undefined && before.every !== every)
    if (used !== null) this.#every.set(account, { every })
    return used
  }
}

/** A quota that was changed has used what it had used; a changed rate is another bucket. */
function adapt(bucket: Shared, { perSecond, burst }: RateLimit): void {
  if (perSecond === 0) bucket.tokens += burst - bucket.burst
  bucket.burst = burst
}
