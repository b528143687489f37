import type { LimitAnswer } from '../ports/limit-store.ts'
import type { RateLimit } from '../ports/limits.ts'

/** What one process may take of one shared bucket, between two answers of the store. Times are milliseconds of one clock. */
export interface Share {
  /** Whether the store is to hear of something. */
  readonly isUnreported: boolean
  /** Takes units: 0, or milliseconds to wait (Infinity where nothing comes back); null where the store has to be asked. */
  take(limit: RateLimit, units: number, now: number): number | null
  /** Takes of so many units what may be taken without the store. */
  takeSome(limit: RateLimit, units: number, now: number): number
  /** Takes what another process may hold to spare, of units that were granted already; `processes` are those that want some. */
  takeSpare(units: number, processes: number): number
  /** As `take`, while the store is away. */
  takeAlone(limit: RateLimit, units: number, now: number, alone: Alone): number
  /** As `takeSome`, while the store is away. */
  takeSomeAlone(limit: RateLimit, units: number, now: number, alone: Alone): number
  /** As `spend`, while the store is away; units below 0 are put back. */
  spendAlone(limit: RateLimit, units: number, now: number, alone: Alone): void
  /** Takes units whether or not there are as many. Returns whether nothing was heard of the bucket for long: then it is worth a question. */
  spend(units: number, now: number): boolean
  /** Puts back what was taken. */
  giveBack(units: number): void
  /** Whether the store is to hear of it now, though no call waits. */
  isDue(now: number): boolean
  /** What a question says. */
  report(now: number, occasion: Occasion): Report
  /** Goes on from the answer; `unused` is what the calls that waited have left of the grant. */
  answered(answer: LimitAnswer, limit: RateLimit, now: number, isAtEdge: boolean, unused: number): void
  /** The question was not answered: what it said is said again. */
  unanswered(): void
  /** The store is another one, which has granted nothing. */
  renewed(): void
  /** Whether what is known of the bucket is recent. */
  isFresh(now: number): boolean
  /** The bucket, for those who take from it through this process; `alone` while the store is away. */
  view(limit: RateLimit, now: number, alone: Alone | null): View
  /** Milliseconds until the bucket holds so many units, as far as this process knows. */
  wait(limit: RateLimit, units: number): number
  /** This process's part of what the bucket holds, where all others take theirs; `processes` are those where nothing is known of it. */
  own(limit: RateLimit, now: number, processes: number): number
  /** What the bucket holds, as far as this process knows; all of it where nothing is known. */
  level(limit: RateLimit, now: number): number
}

/** What a process gives by itself while the store is away. */
export interface Alone {
  /** Processes that may take from the same buckets, where nothing else is known of one. */
  readonly processes: number
  /**
   * By what it gives: its part of an account's traffic and at least an equal share, an equal share, or nothing. Absent: an equal share among those who
   * took from the bucket when that was last known.
   */
  readonly away?: 'part' | 'share' | 'closed'
  /** Which outage this is: what is given of a quota by itself is counted from its beginning. */
  readonly outage: number
}

/** Milliseconds after which callers may try again where nothing is given while the store is away. */
export const CLOSED = 1_000

/** A bucket as one process sees it. */
export interface View {
  /** As in `LimitAnswer`. */
  readonly level: number
  readonly active: number
  readonly retry?: number
  /** Units that this process may give without asking. */
  readonly own: number
}

/** Why a question is asked: calls wait for its answer, it is time for a report, or the process takes nothing more. */
export type Occasion = 'calls' | 'report' | 'end'

/** As in `LimitQuestion`. */
export interface Report {
  readonly spent: number
  readonly over: number
  readonly spare?: number
  /** Units that may be asked for; absent: as many as are wanted. */
  readonly most?: number
}
