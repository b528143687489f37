/** What an account has left right now: its rate bucket and its quota window, in memory. */
import type { Plan } from '../snapshot/types.ts'
import { newBucket, putBack, rateState, take } from './bucket.ts'
import type { Bucket, RateLimit, RateState } from './bucket.ts'
import type { QuotaState } from './types.ts'
import { windowAt } from './window.ts'
import type { Window } from './window.ts'

/** Reads what the ledger says was used in a window; `switched` from windows of another kind. */
export type UsedInWindow = (account: string, window: Window, switched: boolean) => number

/** The live limits of one account; nothing here waits, so a limit holds when calls race. */
export class AccountMeter {
  readonly #account: { readonly id: string; readonly createdAt: number }
  readonly #usedInWindow: UsedInWindow
  #bucket: Bucket | null = null
  #window: Window | null = null
  #every: number | 'month' = 0
  #used = 0

  constructor(account: { readonly id: string; readonly createdAt: number }, usedInWindow: UsedInWindow) {
    this.#account = account
    this.#usedInWindow = usedInWindow
  }

  /** Takes `cost` from the rate bucket; returns 0, or milliseconds to wait. */
  takeRate(limit: RateLimit, cost: number, now: number): number {
    this.#bucket ??= newBucket(limit, now)
    return take(this.#bucket, limit, cost, now)
  }

  /** Puts back what `takeRate` gave. */
  returnRate(limit: RateLimit, cost: number): void {
    if (this.#bucket !== null) putBack(this.#bucket, limit, cost)
  }

  /** What the rate headers say; null on a plan without a rate. */
  rate(plan: Plan, now: number): RateState | null {
    if (plan.rate === null) return null
    this.#bucket ??= newBucket(plan.rate, now)
    return rateState(this.#bucket, plan.rate, now)
  }

  /** The quota of the window that `now` falls in; null on a plan without one. */
  quota(plan: Plan, now: number): QuotaState | null {
    if (plan.quota === null) return null
    const window = this.windowOf(plan, now)
    return { requests: plan.quota.requests, used: this.#used, resetsAt: window?.end ?? 0 }
  }

  /** Takes `cost` from the quota of the window last read; false when less than that is left. */
  takeQuota(plan: Plan, cost: number): boolean {
    if (plan.quota === null) return true
    if (this.#used + cost > plan.quota.requests) return false
    this.#used += cost
    return true
  }

  /** Puts back quota that was taken in the window that starts at `windowStart`. */
  returnQuota(windowStart: number, cost: number): void {
    if (this.#window?.start === windowStart) this.#used -= cost
  }

  /** Whether the quota still stands on this reading of its window. */
  isReading(reading: Window | null): boolean {
    return this.#window === reading
  }

  /** The quota window of `now`, rolled over and read from the ledger when it is a new one. */
  windowOf(plan: Plan, now: number): Window | null {
    if (plan.quota === null) return null
    const { every } = plan.quota
    const seconds = now / 1000
    if (
      this.#window !== null &&
      this.#every === every &&
      seconds >= this.#window.start &&
      seconds < this.#window.end
    )
      return this.#window
    const switched = this.#window !== null && this.#every !== every
    this.#every = every
    this.#window = windowAt(every, this.#account.createdAt, now)
    this.#used = this.#usedInWindow(this.#account.id, this.#window, switched)
    return this.#window
  }
}
