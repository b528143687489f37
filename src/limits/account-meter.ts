/** What an account has left right now: its rate bucket and its quota window, in memory. */
import type { Plan } from '../snapshot/types.ts'
import { newBucket, putBack, rateState, take } from './bucket.ts'
import type { Bucket } from './bucket.ts'
import type { QuotaState, RateLimit, RateState } from '../ports/limits.ts'

/**
 * Reads what the ledger says an account, or one of its endpoints alone, has used in a window; null when it cannot be read now. `switched` when the
 * account had windows of another kind before.
 */
export type UsedInWindow = (
  account: string,
  window: Window,
  switched: boolean,
  endpoint?: string,
) => number | null

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
  quota(plan: Plan, now: number): QuotaState | null | 'unreadable' {
    const window = this.readWindow(plan, now)
    if (window === 'unreadable') return window
    if (plan.quota === null || window === null) return null
    return { requests: plan.quota.requests, used: this.#used, resetsAt: window.end }
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

  /** The quota window that `now` falls in; null on a plan without one. */
  windowOf({ quota }: Plan, now: number): Window | null {
    if (quota === null) return null
    const seconds = now / 1000
    const last = this.#window
    const isSame = last !== null && this.#every === quota.every && seconds >= last.start && seconds < last.end
    return isSame ? last : windowAt(quota.every, this.#account.createdAt, now)
  }

  /**
   * The same, and what was used of it is known from then on. A new window is read from the ledger; when that cannot be read nothing changes,
   * and the next call reads again.
   */
  readWindow(plan: Plan, now: number): Window | null | 'unreadable' {
    const window = this.windowOf(plan, now)
    if (plan.quota === null || window === null || window === this.#window) return window
    const { every } = plan.quota
    const switched = this.#window !== null && this.#every !== every
    const used = this.#usedInWindow(this.#account.id, window, switched)
    if (used === null) return 'unreadable'
    this.#every = every
    this.#window = window
    this.#used = used
    return window
  }
}

/** Quota windows: a fixed span that runs from the account's creation, or the calendar month in UTC. */
export interface Window {
  /** Unix seconds, inclusive. */
  readonly start: number
  /** Unix seconds, exclusive: when the quota resets. */
  readonly end: number
}

/** The window that `now` (milliseconds) falls in. `createdAt` is in Unix seconds, `every` in milliseconds. */
export function windowAt(every: number | 'month', createdAt: number, now: number): Window {
  if (every === 'month') return monthAt(new Date(now))
  const span = every / 1000
  const index = Math.max(0, Math.floor((now / 1000 - createdAt) / span))
  const start = createdAt + index * span
  return { start, end: start + span }
}

function monthAt(date: Date): Window {
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()]
  return { start: Date.UTC(year, month) / 1000, end: Date.UTC(year, month + 1) / 1000 }
}

/** The hour that `now` (milliseconds) falls in, as Unix seconds. */
export function hourAt(now: number): number {
  return Math.floor(now / 3_600_000) * 3600
}
