/** What an endpoint may use in a calendar day in UTC, where its owner limits that: within the account's quota, and exact as that is. */
import { refuse } from '../refusal/refusal.ts'
import type { Refusal } from '../refusal/refusal.ts'
import type { Payer } from '../ports/limits.ts'
import type { UsedInWindow, Window } from './account-meter.ts'

/** Milliseconds of a day. */
export const DAY = 86_400_000

/** The day that `now` (milliseconds) falls in. */
export function dayAt(now: number): Window {
  const start = (Math.floor(now / DAY) * DAY) / 1000
  return { start, end: start + DAY / 1000 }
}

/** The refusal of a call that its endpoint has no units left for today. */
export function dayExhausted({ end }: Window): Refusal {
  const data = { scope: 'endpoint', resetsAt: end }
  return refuse('quota_exhausted', 'The daily limit of this endpoint is used up', data)
}

/** What one endpoint has used today, in memory. Nothing here waits, so the limit holds when calls race. */
export class DayMeter {
  readonly #usedIn: (day: Window) => number | null
  #day: Window | null = null
  #since = 0
  #used = 0

  constructor(account: string, endpoint: string, usedInWindow: UsedInWindow) {
    this.#usedIn = day => usedInWindow(account, day, false, endpoint)
  }

  /** Takes units of the day that `now` falls in; null where there is no limit. Returns the day as it was read, or a refusal. */
  take({ dailyLimit, limitedSince }: Payer['endpoint'], units: number, now: number): Window | Refusal | null {
    if (dailyLimit === null) return null
    const day = this.#read(limitedSince, now)
    if (day === null) return refuse('journal_unavailable')
    if (this.#used + units > dailyLimit) return dayExhausted(day)
    this.#used += units
    return day
  }

  /** Puts units back. A day that was read anew since does not hold what never came to the disk. */
  giveBack(reading: Window, units: number, wasRecorded: boolean): void {
    const isSame = wasRecorded ? reading.start === this.#day?.start : reading === this.#day
    if (isSame) this.#used -= units
  }

  /** From the ledger when a day begins, and when a limit is set that was not there. Null when it cannot be read now: the next call reads again. */
  #read(since: number, now: number): Window | null {
    const last = this.#day
    const seconds = now / 1000
    if (last !== null && since === this.#since && seconds >= last.start && seconds < last.end) return last
    const day = dayAt(now)
    const used = this.#usedIn(day)
    if (used === null) return null
    this.#day = day
    this.#since = since
    this.#used = used
    return day
  }
}
