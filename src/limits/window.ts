/** The spans of time that quotas and daily limits are counted in. */

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

/** Milliseconds of a day. */
export const DAY = 86_400_000

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

/** The day in UTC that `now` (milliseconds) falls in. */
export function dayAt(now: number): Window {
  const start = (Math.floor(now / DAY) * DAY) / 1000
  return { start, end: start + DAY / 1000 }
}
