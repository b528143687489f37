/** Where buckets are kept from which several processes take: each spends its allowance by itself, and asks for what is beyond it. */
import type { RateLimit } from './limits.ts'
import type { MaybePromise } from './maybe-promise.ts'

/** Whose quota a bucket is, or the daily limit of which endpoint. Its level at first is what the ledger says is left. */
export interface QuotaOf {
  readonly account: string
  /** The endpoint that alone is counted; absent where it is the account. */
  readonly endpoint?: string
  /** Unix seconds: `start` is inclusive, `end` exclusive. */
  readonly window: { readonly start: number; readonly end: number }
  /** The length of such windows in milliseconds, or calendar months. */
  readonly every: number | 'month'
}

/** What one process says of a bucket, and asks of it. */
export interface LimitQuestion {
  readonly key: string
  /** A rate of 0 refills nothing: a quota. */
  readonly limit: RateLimit
  /** Units taken since its last question; below zero where more was given back. */
  readonly spent: number
  /** Milliseconds since the first of them was taken: what came back since then is not lost on a full bucket. */
  readonly over: number
  /** Units asked for now. */
  readonly want: number
  /** Units of a quota asked for besides, to be had without a question: the store gives up to a small part of what is left. */
  readonly spare?: number
  readonly quota?: QuotaOf
}

/** What is left behind the question. */
export interface LimitAnswer {
  /** Units left; below zero where all together took more than there was. */
  readonly level: number
  /** Processes that take from it now, the one that asks included. */
  readonly active: number
  /** Units granted of those asked for and the spare ones, which the level no longer has. */
  readonly granted: number
  /** Units that the process may take until the next answer besides its share of the refill; absent: its share of the level. */
  readonly own?: number
  /** Units that all processes took lately, fading over `TRAFFIC` milliseconds; absent where the store does not count them. */
  readonly traffic?: number
  /** Milliseconds after which to try again: until then nothing is given at all. */
  readonly retry?: number
  /** The store has lost what it had: units that it granted before are not the process's any more. */
  readonly isRenewed?: boolean
}

/** The time constant of `traffic`. */
export const TRAFFIC = 3_000

/** The buckets as one process sees them. */
export interface LimitStore {
  /** Answers in the order of the questions, all at one moment; null where a quota cannot be read now. Rejects while the store is away. */
  ask(questions: readonly LimitQuestion[]): MaybePromise<readonly (LimitAnswer | null)[]>
}
