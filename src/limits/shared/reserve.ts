/**
 * What one process holds of a quota: units that the store has granted already and nobody else can take, so that no quota is ever overspent. What
 * is not used goes back after a second. Near its end nobody gets any to spare, and each call asks.
 */
import type { LimitAnswer } from '../../ports/limit-store.ts'
import type { RateLimit } from '../../ports/limits.ts'
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
  /** Taken while the store was away: what it has not heard of, and all since it was last there. */
  #debt = 0
  #alone = 0
  #reporting = 0
  /** The whole quota, as the last call had it. */
  #quota = 0
  /** What callers hear while nothing is given, in milliseconds. */
  #retry: number | null = null

  constructor(pace: { readonly every: number }) {
    this.#pace = pace
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
    this.#alone += rest
    this.spend(rest)
    return held + rest
  }

  spendAlone(_: RateLimit, units: number): void {
    if (units < 0) this.giveBack(-units)
    else {
      this.#alone += units
      this.spend(units)
    }
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

  answered(answer: LimitAnswer, _: RateLimit, now: number, isAtEdge: boolean, unused: number): void {
    if (answer.isRenewed === true) this.renewed()
    this.#reporting = 0
    this.#alone = 0
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

  view(limit: RateLimit, _: number, alone: Alone | null): View {
    const level = this.level(limit)
    return alone?.away === 'closed'
      ? { level, active: 1, own: 0, retry: CLOSED }
      : { level, active: 1, own: this.#held }
  }

  wait(): number {
    return this.#retry ?? Infinity
  }

  own(limit: RateLimit): number {
    return this.level(limit)
  }

  level({ burst }: RateLimit): number {
    return this.#left === null ? burst : this.#left + this.#held - this.#debt
  }
  /** What may be taken without the store: where nothing is known, the rate bounds what is taken. The store hears of it. */
  #leftAlone({ processes }: Alone): number {
    return this.#left === null ? Infinity : Math.max(0, this.#left) / processes - this.#alone
  }
}
