/** What callers hold at a time: connections that stay, and subscriptions. */
import type { MaybePromise } from './maybe-promise.ts'

/** Counts what each holder has. A holder is an account, or a public address. */
export interface Holdings {
  /** Takes one of at most `limit`; false when all are taken. Racing takers cannot pass the limit. */
  take(holder: string, limit: number): MaybePromise<boolean>
  /** Gives one back. */
  free(holder: string): void
  /** How many are held now, as far as is known without asking. */
  held(holder: string): number
  /** How many of those held by this process may stay once the limit is smaller; Infinity where the holder has no more than it. */
  part(holder: string, limit: number): MaybePromise<number>
  /** `f` ends up to `count` of what a holder keeps without using it, and resolves when that is given back: another process has none left. */
  whenShort(f: (holder: string, count: number) => Promise<unknown>): void
}
