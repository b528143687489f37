/**
 * What one process may take from a shared bucket by itself. All allowances together are about what the bucket holds, so that everybody takes
 * at once; what they take too much they pay back, as the bucket then holds less than nothing.
 */
import type { LimitAnswer } from '../../ports/limit-store.ts'
import type { RateLimit } from '../../ports/limits.ts'
import { newBucket, take } from '../bucket.ts'
import type { Bucket } from '../bucket.ts'
import { ACTIVE } from './buckets.ts'
import type { Report, Share } from './share.ts'

/** The allowance at first, as a part of the burst: it doubles with each question at its edge, and halves while it is not used. */
const FIRST = 1 / 16
/** The part of the allowance from which on a report is worth a message; less waits for a second. */
const WORTH_REPORTING = 1 / 20
const REPORTED_AFTER = 1_000

/** Counts what is taken between two answers of the store. Times are milliseconds of one clock. */
export class Allowance implements Share {
  /** Milliseconds between two reports of a busy bucket. */
  readonly #every: number
  /** What the bucket holds, as far as this process knows. */
  #level = 0
  #at = 0
  /** What may be taken until the next answer, besides this process's share of the refill, and what was. */
  #allowed = 0
  #taken = 0
  #takenAt = 0
  /** What is allowed at most. */
  #most: number
  #active = 1
  #answeredAt = -Infinity
  /** What was taken and not reported, and what a question under way reports. */
  #unreported = 0
  #reporting = 0
  /** When the first of what is not reported was taken. */
  #since = 0
  #reportedAt = 0
  /** This process's part of the bucket while the store is away; null while it is there. */
  #alone: Bucket | null = null

  constructor(limit: RateLimit, every: number) {
    this.#every = every
    this.#most = limit.burst * FIRST
  }

  get isUnreported(): boolean {
    return this.#unreported !== 0
  }

  take(limit: RateLimit, units: number, now: number): number | null {
    const since = now - this.#answeredAt
    // The others leave nothing for a process that was silent for long.
    if (!this.#isFresh(now)) return null
    this.#refill(limit, now)
    this.#shrink(limit, now)
    const refilled = (since * limit.perSecond) / 1000
    if (units <= this.#level && units <= this.#allowed + refilled / this.#active - this.#taken) {
      this.spend(units, now)
      return 0
    }
    // Of what comes back meanwhile the others take their shares.
    const own = this.#level - refilled * (1 - 1 / this.#active)
    return own < units && since < this.#every ? waitFor(units - this.#level, limit) : null
  }

  takeAlone(limit: RateLimit, units: number, now: number, processes: number): number {
    const known = this.#answeredAt !== -Infinity
    const parts = known ? this.#active : processes
    const part = { perSecond: limit.perSecond / parts, burst: limit.burst / parts }
    this.#alone ??= { ...newBucket(part, now), ...(known && { tokens: Math.max(0, this.#level) / parts }) }
    // A call that costs more than the part takes all of it.
    return take(this.#alone, part, Math.min(units, part.burst), now)
  }

  spend(units: number, now: number): boolean {
    if (this.#unreported === 0) this.#since = now
    this.#level -= units
    this.#taken += units
    this.#takenAt = now
    this.#unreported += units
    return !this.#isFresh(now)
  }

  giveBack(units: number): void {
    this.#level += units
    this.#taken -= units
    this.#unreported -= units
  }

  isDue(now: number): boolean {
    if (this.#unreported === 0) return false
    const much = Math.abs(this.#unreported) > this.#allowed * WORTH_REPORTING
    return now - this.#reportedAt >= (much ? this.#every : REPORTED_AFTER)
  }

  report(now: number): Report {
    const over = this.#unreported === 0 ? 0 : Math.max(0, now - this.#since)
    this.#reporting = this.#unreported
    this.#unreported = 0
    this.#reportedAt = now
    return { spent: this.#reporting, over }
  }

  answered(
    { level, active }: LimitAnswer,
    limit: RateLimit,
    now: number,
    isAtEdge: boolean,
    unused: number,
  ): void {
    this.#alone = null
    this.#reporting = 0
    this.#unreported -= unused
    // What was taken while the question was under way is not in its answer.
    this.#taken = this.#unreported
    this.#level = level - this.#unreported
    this.#at = this.#answeredAt = now
    this.#active = active
    if (isAtEdge) {
      this.#most = Math.min(limit.burst, this.#most * 2)
      this.#takenAt = now
    }
    this.#allowed = Math.min(Math.max(0, level) / active, this.#most)
  }

  unanswered(): void {
    this.#unreported += this.#reporting
    this.#reporting = 0
  }

  renewed(): void {
    // A rate is counted here and reported afterwards: the store has granted nothing in advance.
  }

  wait(limit: RateLimit, units: number): number {
    return waitFor(units - this.#level, limit)
  }

  own(limit: RateLimit, now: number, processes: number): number {
    if (this.#answeredAt !== -Infinity) this.#refill(limit, now)
    const all = this.#answeredAt === -Infinity ? limit.burst : this.#level + this.#taken
    return all <= 0 ? all : all / (this.#isFresh(now) ? this.#active : processes) - this.#taken
  }

  level(limit: RateLimit, now: number): number {
    if (this.#answeredAt === -Infinity) return limit.burst
    this.#refill(limit, now)
    return this.#level
  }

  #isFresh(now: number): boolean {
    const since = now - this.#answeredAt
    return since >= 0 && since < ACTIVE
  }

  #refill({ perSecond, burst }: RateLimit, now: number): void {
    const elapsed = Math.max(0, now - this.#at)
    this.#level = Math.min(burst, this.#level + (elapsed * perSecond) / 1000)
    this.#at = now
  }

  #shrink({ burst }: RateLimit, now: number): void {
    const halvings = Math.floor((now - this.#takenAt) / this.#every)
    if (halvings <= 0) return
    this.#takenAt = now
    this.#most = Math.max(burst * FIRST, this.#most * 0.5 ** halvings)
    this.#allowed = Math.min(this.#allowed, this.#taken + this.#most)
  }
}

/** Milliseconds until so many units have come back. */
function waitFor(missing: number, { perSecond }: RateLimit): number {
  return Math.max(1, Math.ceil((missing * 1000) / perSecond))
}
