/** What calls take from shared buckets, and those who wait for it. */
import type { LimitAnswer, LimitQuestion, QuotaOf } from '../ports/limit-store.ts'
import type { RateLimit } from '../ports/limits.ts'
import { Allowance } from './allowance.ts'
import type { Pace } from './allowance.ts'
import type { Outages } from './outages.ts'
import { Reserve } from './reserve.ts'
import type { Occasion, Share } from './share.ts'

/** What a call takes from one bucket. */
export interface Part {
  readonly key: string
  readonly limit: RateLimit
  readonly units: number
  readonly quota?: QuotaOf
  /** Where its `Asking` counts it, once that was found: whoever keeps the part spares the search. */
  entry?: Entry
}

/** How long a call has to wait, in milliseconds: 0 where it has what it takes, Infinity where nothing comes back; null where a quota cannot be read now. */
export type Taken = number | null

/** A call that waits for an answer. */
export interface Waiting {
  readonly units: number
  /** Whether it takes less where there is less: then it hears how much it has. */
  readonly isSome: boolean
  readonly resolve: (taken: Taken) => void
}

/** A bucket that this process takes from. */
export interface Entry {
  readonly share: Share
  /** As its last call had it. */
  part: Part
  waiting: Waiting[]
  isAsking: boolean
  /** How often the store has lost what it had granted. */
  renewals: number
}

/** A bucket that nothing is known of yet. */
export function newEntry(part: Part, pace: Pace, outages: Outages): Entry {
  const share = part.quota === undefined ? new Allowance(part.limit, pace) : new Reserve(pace, outages)
  return { share, part, waiting: [], isAsking: false, renewals: 0 }
}

/** Builds the question for the store: what the waiting calls want, and what there is to report. */
export function questionOf(
  { part: { key, limit, quota }, share }: Entry,
  calls: readonly Waiting[],
  now: number,
  occasion: Occasion,
): LimitQuestion {
  const wanted = calls.reduce((sum, { units }) => sum + units, 0)
  const { most = Infinity, ...report } = share.report(now, calls.length > 0 ? 'calls' : occasion)
  return { key, limit, ...report, want: Math.min(wanted, most), ...(quota && { quota }) }
}

/** Hands what was granted to those who asked, in their order; a call that it is not enough for does not get a part of it. */
export function handOut(entry: Entry, asked: readonly Waiting[], answer: LimitAnswer, now: number): void {
  const { share, part } = entry
  if (answer.isRenewed === true) entry.renewals += 1
  let left = answer.granted
  const refused: Waiting[] = []
  for (const call of asked) {
    const got = call.units <= left ? call.units : call.isSome ? left : null
    if (got === null) {
      refused.push(call)
      continue
    }
    left -= got
    call.resolve(call.isSome ? got : 0)
  }
  share.answered(answer, part.limit, now, asked.length > 0, left)
  for (const { units, resolve } of refused) resolve(share.wait(part.limit, units))
}

/**
 * Serves the calls that came while a question was under way as far as its answer has enough for them, in their order; the rest ask. If each of them
 * asked, a busy process would always have a question under way (bench/redis.ts).
 */
export function serveWaiting({ share, part, waiting }: Entry, now: number): void {
  let served = 0
  for (const { units, isSome, resolve } of waiting) {
    // Who takes nothing asks for the level as it is now.
    if (units === 0 || share.take(part.limit, units, now) !== 0) break
    resolve(isSome ? units : 0)
    served += 1
  }
  waiting.splice(0, served)
}
