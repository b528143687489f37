/**
 * What one process may take from a shared bucket by itself. All allowances together are less than the bucket holds, so that everybody takes
 * at once; what they take too much they pay back, as the bucket then holds less than nothing.
 */
import type { LimitAnswer } from '../ports/limit-store.ts'
import type { RateLimit } from '../ports/limits.ts'
import { AlonePart } from './alone-part.ts'
import type { Opening } from './alone-part.ts'
import { ACTIVE } from './bucket.ts'
import type { Alone, Report, Share, View } from './share.ts'

/**
 * The allowance at first, as a part of the burst: it doubles with each question at its edge, and halves while it is not used. All processes begin with
 * at most half a burst together: after a rest the store cannot know yet how many will take.
 */
const FIRST = 1 / 16
const ALL_FIRST = 1 / 2
/**
 * Of its equal part of the level. What one takes the others do not know of until they ask again: with a whole part each, a flood behind a rest passed up
 * to a burst more in its first moments (test/limits/simulation.test.ts).
 */
const PART = 1 / 4
/** The part of the allowance from which on a report is worth a message; less waits for a second. */
const WORTH_REPORTING = 1 / 20
const REPORTED_AFTER = 1_000

/** What of its process it goes by. */
export interface Pace {
  /** Milliseconds between two reports of a busy bucket. */
  readonly every: number
  /** Processes that may take from the same bucket. */
  readonly processes: number
}

/** Counts what is taken between two answers of the store. Times are milliseconds of one clock. */
export class Allowance implements Share {
  readonly #pace: Pace
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
  /** This process's part of the bucket while the store is away. */
  readonly #alone = new AlonePart()
  /** Until when nothing is taken, and what callers hear of it in milliseconds. */
  #closedUntil = 0
  #retry: number | null = null

  constructor(limit: RateLimit, pace: Pace) {
    this.#pace = pace
    this.#most = this.#first(limit)
  }

  get isUnreported(): boolean {
    return this.#unreported !== 0
  }

  take(limit: RateLimit, units: number, now: number): number | null {
    const since = now - this.#answeredAt
    this.#shrink(limit, now)
    // The others leave nothing for a process that was silent for long.
    if (!this.isFresh(now)) return null
    if (now < this.#closedUntil) return this.#retry
    this.#refill(limit, now)
    const refilled = (since * limit.perSecond) / 1000
    if (units <= this.#level && units <= this.#allowed + refilled / this.#active - this.#taken) {
      this.spend(units, now)
      return 0
    }
    // Of what comes back meanwhile the others take their shares.
    const own = this.#level - refilled * (1 - 1 / this.#active)
    return own < units && since < this.#pace.every ? waitFor(units - this.#level, limit) : null
  }

  takeSome(limit: RateLimit, units: number, now: number): number {
    return this.take(limit, units, now) === 0 ? units : 0
  }

  takeSpare(): number {
    return 0
  }

  takeAlone(limit: RateLimit, units: number, now: number, alone: Alone): number {
    return this.#alone.take(limit, units, now, this.#opening(alone))
  }

  takeSomeAlone(limit: RateLimit, units: number, now: number, alone: Alone): number {
    return this.#alone.takeSome(limit, units, now, this.#opening(alone))
  }

  spendAlone(limit: RateLimit, units: number, now: number, alone: Alone): void {
    this.#alone.spend(limit, units, now, this.#opening(alone))
  }

  spend(units: number, now: number): boolean {
    if (this.#unreported === 0) this.#since = now
    this.#level -= units
    this.#taken += units
    this.#takenAt = now
    this.#unreported += units
    return !this.isFresh(now)
  }

  giveBack(units: number): void {
    this.#level += units
    this.#taken -= units
    this.#unreported -= units
  }

  isDue(now: number): boolean {
    if (this.#unreported === 0) return false
    const much = Math.abs(this.#unreported) > this.#allowed * WORTH_REPORTING
    return now - this.#reportedAt >= (much ? this.#pace.every : REPORTED_AFTER)
  }

  report(now: number): Report {
    const over = this.#unreported === 0 ? 0 : Math.max(0, now - this.#since)
    this.#reporting = this.#unreported
    this.#unreported = 0
    this.#reportedAt = now
    return { spent: this.#reporting, over }
  }

  answered(answer: LimitAnswer, limit: RateLimit, now: number, isAtEdge: boolean, unused: number): void {
    const { level, active, own = Infinity, retry = null } = answer
    this.#alone.answered(this.#reporting + answer.granted - unused, answer.traffic, now)
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
    this.#allowed = Math.min((Math.max(0, level) / active) * PART, this.#most, own)
    this.#retry = retry
    this.#closedUntil = retry === null ? 0 : now + this.#pace.every
  }

  unanswered(): void {
    this.#unreported += this.#reporting
    this.#reporting = 0
  }

  renewed(): void {
    // A rate is counted here and reported afterwards: the store has granted nothing in advance.
  }

  isFresh(now: number): boolean {
    const since = now - this.#answeredAt
    return since >= 0 && since < ACTIVE
  }

  view(limit: RateLimit, now: number, alone: Alone | null): View {
    if (alone !== null) return this.#alone.view(limit, now, this.#opening(alone))
    const level = this.level(limit, now)
    const refilled = ((now - this.#answeredAt) * limit.perSecond) / 1000
    const own = Math.min(level, this.#allowed + refilled / this.#active - this.#taken)
    return { level, active: this.#active, own: this.isFresh(now) ? Math.max(0, own) : 0 }
  }

  wait(limit: RateLimit, units: number): number {
    return this.#retry ?? waitFor(units - this.#level, limit)
  }

  own(limit: RateLimit, now: number, processes: number): number {
    if (this.#answeredAt !== -Infinity) this.#refill(limit, now)
    const all = this.#answeredAt === -Infinity ? limit.burst : this.#level + this.#taken
    return all <= 0 ? all : all / (this.isFresh(now) ? this.#active : processes) - this.#taken
  }

  level(limit: RateLimit, now: number): number {
    if (this.#answeredAt === -Infinity) return limit.burst
    this.#refill(limit, now)
    return this.#level
  }

  #opening(alone: Alone): Opening {
    return {
      ...alone,
      known: this.#answeredAt === -Infinity ? null : { level: this.#level, active: this.#active },
    }
  }

  #refill({ perSecond, burst }: RateLimit, now: number): void {
    const elapsed = Math.max(0, now - this.#at)
    this.#level = Math.min(burst, this.#level + (elapsed * perSecond) / 1000)
    this.#at = now
  }

  #first({ burst }: RateLimit): number {
    return burst * Math.min(FIRST, ALL_FIRST / this.#pace.processes)
  }

  #shrink(limit: RateLimit, now: number): void {
    const unused = now - this.#takenAt
    if (unused < this.#pace.every) return
    const halvings = Math.floor(unused / this.#pace.every)
    this.#takenAt = now
    this.#most = Math.max(this.#first(limit), this.#most * 0.5 ** halvings)
    this.#allowed = Math.min(this.#allowed, this.#taken + this.#most)
  }
}

/** Milliseconds until so many units have come back. */
function waitFor(missing: number, { perSecond }: RateLimit): number {
  return Math.max(1, Math.ceil((missing * 1000) / perSecond))
}
