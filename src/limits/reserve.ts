/**
 * What one process holds of a quota: units that the store has granted already and nobody else can take, so that no quota is ever overspent. What
 * is not used goes back after a second. Near its end nobody gets any to spare, and each call asks.
 */
import type { LimitAnswer } from '../ports/limit-store.ts'
import type { RateLimit } from '../ports/limits.ts'
import type { Outages } from './outages.ts'
import { CLOSED } from './share.ts'
import type { Alone, Occasion, Report, Share, View } from './share.ts'

/** Milliseconds without a call after which the rest goes back. */
const IDLE = 1_000
/** Units asked for to spare at first: as many again with each question, as many as all calls take between two questions of a busy account. */
const FIRST = 1
const MOST = 4_096

/** Counts what is held. */
export class Reserve implements Share {
  /** Milliseconds for which a quota that was used up is not asked for again. */
  readonly #pace: { readonly every: number }
  #held = 0
  #spare = FIRST
  #takenAt = 0
  /** What the store has left for everybody; null until it has said so. */
  #left: number | null = null
  #answeredAt = 0
  /** Taken while the store was away, and not heard of by it. */
  #debt = 0
  #reporting = 0
  /** What may still be given by itself, in which outage, and whether the store was heard since that began. */
  #part = 0
  #outage = 0
  #isHeard = false
  /** The whole quota, as the last call had it. */
  #quota = 0
  /** What callers hear while nothing is given, in milliseconds. */
  #retry: number | null = null
  readonly #outages: Outages
  /** Where no more was asked for than its part, what was held besides. */
  #kept: number | null = null

  constructor(pace: { readonly every: number }, outages: Outages) {
    this.#pace = pace
    this.#outages = outages
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
    const settling = this.#outages.settling(now)
    if (settling !== null && this.#leftAlone(settling) < units - this.#held)
      return this.#left! < units ? Infinity : CLOSED
    const isRecent = this.#left !== null && now - this.#answeredAt < this.#pace.every
    return isRecent && (this.#retry !== null || this.#left! + this.#held < units) ? this.wait() : null
  }

  takeSome(_: RateLimit, units: number, now: number): number {
    const some = Math.min(units, this.#held)
    if (some > 0) this.#takenAt = now
    this.#held -= some
    return some
  }

  takeSpare(units: number, processes: number): number {
    const spare = Math.max(0, Math.min(units, Math.floor(this.#held / (2 * processes))))
    this.#held -= spare
    return spare
  }

  /** This process's part of what was left when that was last known. Where nothing is known the rate bounds what is taken. The store hears of it. */
  takeAlone(limit: RateLimit, units: number, now: number, alone: Alone): number {
    if (alone.away === 'closed') return CLOSED
    // What the others may still spend is left, as far as is known: that is no reason to come back in the next window only.
    if (this.#held + this.#leftAlone(alone) < units) return this.#left! < units ? Infinity : CLOSED
    this.takeSomeAlone(limit, units, now, alone)
    return 0
  }

  takeSomeAlone(limit: RateLimit, units: number, now: number, alone: Alone): number {
    if (alone.away === 'closed') return 0
    const held = this.takeSome(limit, units, now)
    const left = this.#leftAlone(alone)
    const rest = units - held <= left ? units - held : Math.max(0, Math.floor(left))
    this.#part -= rest
    this.spend(rest)
    return held + rest
  }

  spendAlone(_: RateLimit, units: number, __: number, alone: Alone): void {
    if (units < 0) this.giveBack(-units)
    else {
      this.#leftAlone(alone)
      this.#part -= units
      this.spend(units)
    }
  }

  /** What another store has granted is nothing to this one: it counts what was charged, with what was taken while neither was there. */
  renewed(): void {
    this.#drop()
    this.#debt = 0
  }

  #drop(): void {
    this.#held = 0
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
    this.#kept = null
    if (occasion === 'calls') {
      // Neither what is held nor what is left may be enough, and both together.
      const held = this.#held
      this.#reporting -= held
      this.#held = 0
      this.#takenAt = now
      const settling = this.#outages.settling(now)
      if (settling === null) return { spent: this.#reporting, over: 0, spare: this.#spare }
      this.#kept = held
      const most = held + Math.max(0, this.#leftAlone(settling))
      return { spent: this.#reporting, over: 0, most: Math.floor(most) }
    }
    if (occasion === 'end' || now - this.#takenAt >= IDLE) {
      this.#reporting -= this.#held
      this.#held = 0
      this.#spare = FIRST
    }
    return { spent: this.#reporting, over: 0 }
  }

  answered(answer: LimitAnswer, _: RateLimit, now: number, isAtEdge: boolean, unused: number): void {
    // What was taken since the question is in nobody's count yet.
    if (answer.isRenewed === true) this.#drop()
    if (this.#kept !== null) this.#part -= answer.granted - this.#kept
    this.#reporting = 0
    this.#isHeard = true
    this.#held += unused
    this.#left = answer.level
    this.#retry = answer.retry ?? null
    this.#answeredAt = now
    if (isAtEdge) this.#spare = Math.min(MOST, this.#spare * 2)
  }

  unanswered(): void {
    this.#debt += Math.max(0, this.#reporting)
    // What was given back is not taken again: a store that only hung may have it by now, and gives it to others.
    this.#reporting = 0
  }

  isFresh(): boolean {
    return this.#left !== null
  }

  view(limit: RateLimit, now: number, alone: Alone | null): View {
    const level = this.level(limit)
    if (alone?.away === 'closed') return { level, active: 1, own: 0, retry: CLOSED }
    const bound = alone ?? this.#outages.settling(now)
    const isSpent = bound !== null && this.#held + this.#leftAlone(bound) < 1
    // What the others may still give is left.
    return { level, active: 1, own: this.#held, ...(isSpent && level >= 1 && { retry: CLOSED }) }
  }

  wait(): number {
    return this.#retry ?? (this.#kept !== null && this.#left! >= 1 ? CLOSED : Infinity)
  }

  own(limit: RateLimit): number {
    return this.level(limit)
  }

  level({ burst }: RateLimit): number {
    return this.#left === null ? burst : this.#left + this.#held - this.#debt
  }

  /** What may be taken without the store: where nothing is known, the rate bounds what is taken. The store hears of it. */
  #leftAlone({ processes, outage }: Alone): number {
    if (this.#left === null) return Infinity
    // Where nothing new was heard, what was given in the outage before is still missing.
    if (this.#outage !== outage && this.#isHeard) {
      this.#outage = outage
      this.#isHeard = false
      this.#part = Math.max(0, this.#left - this.#debt) / processes
    }
    return this.#part
  }
}
