import type { LimitAnswer } from '../../ports/limit-store.ts'
import type { RateLimit } from '../../ports/limits.ts'

/** What one process may take of one shared bucket, between two answers of the store. Times are milliseconds of one clock. */
export interface Share {
  /** Whether the store is to hear of something. */
  readonly isUnreported: boolean
  /** Takes units: 0, or milliseconds to wait (Infinity where nothing comes back); null where the store has to be asked. */
  take(limit: RateLimit, units: number, now: number): number | null
  /** The same while the store is away; `processes` are those that take from the bucket where nothing is known of it. */
  takeAlone(limit: RateLimit, units: number, now: number, processes: number): number
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
  /** Milliseconds until the bucket holds so many units, as far as this process knows. */
  wait(limit: RateLimit, units: number): number
  /** This process's part of what the bucket holds, where all others take theirs; `processes` are those where nothing is known of it. */
  own(limit: RateLimit, now: number, processes: number): number
  /** What the bucket holds, as far as this process knows; all of it where nothing is known. */
  level(limit: RateLimit, now: number): number
}

/** Why a question is asked: calls wait for its answer, it is time for a report, or the process takes nothing more. */
export type Occasion = 'calls' | 'report' | 'end'

/** As in `LimitQuestion`. */
export interface Report {
  readonly spent: number
  readonly over: number
  readonly spare?: number
}
