/**
 * What one process holds of a quota: units that the store has granted already and nobody else can take, so that no quota is ever overspent. What
 * is not used goes back after a second. Near its end nobody gets any to spare, and each call asks.
 */
import type { LimitAnswer } from '../../ports/limit-store.ts'
import type { RateLimit } from '../../ports/limits.ts'
import type { Occasion, Report, Share } from './share.ts'

/** Milliseconds without a call after which the rest goes back. */
const IDLE = 1_000
/** Units asked for to spare at first: as many again with each question, as many as all calls take between two questions of a busy account. */
const FIRST = 1
const MOST = 4_096

/** Counts what is held. */
export class Reserve implements Share {
  /** Milliseconds for which a quota that was used up is not asked for again. */
  readonly #every: number
  #held = 0
  #spare = FIRST
  #takenAt = 0
  /** What the store has left for everybody; null until it has said so. */
  #left: number | null = null
  #answeredAt = 0
  /** Taken while the store was away: what it has not heard of, and all since it was last there. */
  #debt = 0
  #alone = 0
  #reporting = 0
  /** The whole quota, as the last call had it. */
  #quota = 0

  constructor(every: number) {
    this.#every = every
  }

  get isUnreported(): boolean {
    return this.#held > 0 || this.#debt > 0
  }

  take({ burst }: RateLimit, units: number, now: number): number | null {
    // What was granted of a larger quota may be beyond a smaller one, and of a larger one more is left.
    const isSame = burst === this.#quota
    this.#quota = burst
    if (!isSame) return null
    if (units <= this.#held) {
      this.#held -= units
      this.#takenAt = now
      return 0
    }
    const isFresh = this.#left !== null && now - this.#answeredAt < this.#every
    return isFresh && this.#left! + this.#held < units ? Infinity : null
  }

  /** This process's part of what was left when that was last known. Where nothing is known the rate bounds what is taken. The store hears of it. */
  takeAlone(_: RateLimit, units: number, now: number, processes: number): number {
    if (this.#held >= units) return this.take(_, units, now)!
    if (this.#left !== null && this.#alone + units > Math.max(0, this.#left) / processes) return Infinity
    this.#alone += units
    this.spend(units)
    return 0
  }

  /** What another store has granted is nothing to this one: it counts what was charged, with what was taken while neither was there. */
  renewed(): void {
    this.#held = this.#debt = 0
    this.#spare = FIRST
  }

  spend(units: number): boolean {
    this.#debt += units
    return false
  }

  giveBack(units: number): void {
    this.#held += units
  }

  isDue(now: number): boolean {
    return this.#debt > 0 || (this.#held > 0 && now - this.#takenAt >= IDLE)
  }

  report(now: number, occasion: Occasion): Report {
    this.#reporting = this.#debt
    this.#debt = 0
    if (occasion === 'calls') {
      // Neither what is held nor what is left may be enough, and both together.
      this.#reporting -= this.#held
      this.#held = 0
      this.#takenAt = now
      return { spent: this.#reporting, over: 0, spare: this.#spare }
    }
    if (occasion === 'end' || now - this.#takenAt >= IDLE) {
      this.#reporting -= this.#held
      this.#held = 0
      this.#spare = FIRST
    }
    return { spent: this.#reporting, over: 0 }
  }

  answered({ level }: LimitAnswer, _: RateLimit, now: number, isAtEdge: boolean, unused: number): void {
    this.#reporting = 0
    this.#alone = 0
    this.#held += unused
    this.#left = level
    this.#answeredAt = now
    if (isAtEdge) this.#spare = Math.min(MOST, this.#spare * 2)
  }

  unanswered(): void {
    this.#debt += Math.max(0, this.#reporting)
    this.#held += Math.max(0, -this.#reporting)
    this.#reporting = 0
  }

  wait(): number {
    return Infinity
  }

  own(limit: RateLimit): number {
    return this.level(limit)
  }

  level({ burst }: RateLimit): number {
    return this.#left === null ? burst : this.#left + this.#held - this.#debt
  }
}
