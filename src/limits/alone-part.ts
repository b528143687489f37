/** One process's part of a rate while the store is away: a bucket of its own, of a size that what was last known of the others decides. */
import { TRAFFIC } from '../ports/limit-store.ts'
import type { RateLimit } from '../ports/limits.ts'
import { newBucket, refill, take } from './bucket.ts'
import type { Bucket } from './bucket.ts'
import { CLOSED } from './share.ts'
import type { Alone, View } from './share.ts'

/** What its size is found from. */
export interface Opening extends Alone {
  /** What the store said last; null where it never did. */
  readonly known: { readonly level: number; readonly active: number } | null
}

/** Opens with the first call that finds the store away, and is dropped with its next answer: what was taken is forgiven. */
export class AlonePart {
  /** Units of this process, fading as those of all do in the store, and its part of them. */
  #own = 0
  #ownAt = 0
  #ofTraffic = 0
  #open: { readonly bucket: Bucket; readonly part: number } | null = null

  /** The store is there: it was told of so many units, and says how many all have taken. */
  answered(units: number, traffic: number | undefined, now: number): void {
    this.#open = null
    if (traffic === undefined) return
    this.#own = this.#own * Math.exp((this.#ownAt - now) / TRAFFIC) + Math.max(0, units)
    this.#ownAt = now
    this.#ofTraffic = traffic > 0 ? Math.min(1, this.#own / traffic) : 0
  }

  /** Takes units: 0, or milliseconds to wait. A call that costs more than the part takes all of it. */
  take(limit: RateLimit, units: number, now: number, opening: Opening): number {
    if (opening.away === 'closed') return CLOSED
    const { bucket, part } = this.#opened(limit, now, opening)
    const own = partOf(limit, part)
    return take(bucket, own, Math.min(units, own.burst), now)
  }

  /** Takes of so many units what is there. */
  takeSome(limit: RateLimit, units: number, now: number, opening: Opening): number {
    if (opening.away === 'closed') return 0
    const { bucket, part } = this.#opened(limit, now, opening)
    refill(bucket, partOf(limit, part), now)
    const some = Math.max(0, Math.min(units, Math.floor(bucket.tokens)))
    bucket.tokens -= some
    return some
  }

  /** Takes units whether or not there are as many, below zero too; units below 0 are put back. */
  spend(limit: RateLimit, units: number, now: number, opening: Opening): void {
    const { bucket, part } = this.#opened(limit, now, opening)
    refill(bucket, partOf(limit, part), now)
    bucket.tokens -= units
  }

  /** As if all others had as much for their parts. */
  view(limit: RateLimit, now: number, opening: Opening): View {
    if (opening.away === 'closed') return { level: 0, active: 1, own: 0, retry: CLOSED }
    const { bucket, part } = this.#opened(limit, now, opening)
    refill(bucket, partOf(limit, part), now)
    return { level: bucket.tokens / part, active: 1 / part, own: bucket.tokens }
  }

  #opened(
    limit: RateLimit,
    now: number,
    opening: Opening,
  ): { readonly bucket: Bucket; readonly part: number } {
    if (this.#open !== null) return this.#open
    const part = this.#partBy(opening)
    const bucket = newBucket(partOf(limit, part), now)
    if (opening.known !== null) bucket.tokens = Math.max(0, opening.known.level) * part
    return (this.#open = { bucket, part })
  }

  #partBy({ away, processes, known }: Opening): number {
    if (away === undefined && known !== null) return 1 / known.active
    return away === 'part' ? Math.max(1 / processes, this.#ofTraffic) : 1 / processes
  }
}

function partOf({ perSecond, burst }: RateLimit, part: number): RateLimit {
  return { perSecond: perSecond * part, burst: burst * part }
}
