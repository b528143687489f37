/**
 * How fast a route is sent to once its upstream has answered HTTP 429: after the pause at 0.7 of what it bore in that second, growing by
 * 5 % a second to just below that, until a minute has passed without another one. It holds for the callers who drew the 429, as some
 * providers answer so to one method or one wide call; for everybody once a probe did.
 */
import { concerns, REMEMBERED } from './by-caller.ts'

/** Milliseconds without a complaint after which an upstream's earlier ones are forgotten. */
export const QUIET = 60_000

/** Shares of what the route bore: at first, and at most. What drew the 429 would draw the next one. */
const FIRST = 0.7
const MOST = 0.9
/** What the rate grows by in a second. */
const GROWTH = 1.05
/** Share of a second's calls that may begin at once: with it, a second never has more than the route bore. */
const BURST = 0.1
/** Calls borne in a second that say something about a rate: with fewer the upstream's limit is about something else. */
const TELLING = 5

/** Milliseconds in which calls are counted. */
const WINDOW = 1_000
/** Milliseconds by which two processes may differ about the end of one pause. */
const SAME = 250

/** What a route is held to, and whose calls. */
export interface HeldTo {
  readonly perSecond: number
  readonly concerns: 'one caller' | 'several callers' | 'everybody'
}

/** Since when, to what and for whom a route is held. */
interface Held {
  /** Calls that it took in the second before its first 429. */
  borne: number
  /** The same of the process that drew it, as far as that has reported it. */
  elsewhere: number
  /** When its pause ends. */
  until: number
  /** Whose calls drew a 429; null is a probe. */
  readonly drawnBy: Set<string | null>
  tokens: number
  /** When the tokens were counted. */
  at: number
}

/** The pace of one route, as one process sends to it. Times are in milliseconds of a monotonic clock. */
export class Pace {
  /** Calls begun since `#since`, and in the window before. */
  #begun = 0
  #before = 0
  #since = 0
  #held: Held | null = null

  /** Counts a call of this caller; without one, of ours. */
  count(caller?: string): void {
    this.#begun += 1
    const held = this.#held
    if (held !== null && concerns(held.drawnBy, caller)) held.tokens = Math.max(0, held.tokens - 1)
  }

  /** Whether one more call of this caller may be sent; without one, of somebody who drew nothing. */
  fits(now: number, caller?: string): boolean {
    if (now - this.#since >= WINDOW) this.#roll(now)
    const held = this.#held
    if (held === null || !concerns(held.drawnBy, caller)) return true
    const rate = this.at(now)
    if (rate === null) return true
    const most = Math.max(1, rate * BURST)
    held.tokens = Math.min(most, held.tokens + (Math.max(0, now - held.at) * rate) / 1_000)
    held.at = Math.max(now, held.at)
    return held.tokens >= 1
  }

  /** Calls a second that it is held to; null when it is not. */
  at(now: number): number | null {
    const held = this.#held
    if (held === null || this.borne < TELLING || now >= held.until + QUIET) return null
    const grown = FIRST * GROWTH ** (Math.max(0, now - held.until) / 1_000)
    return this.borne * Math.min(grown, MOST)
  }

  /** Calls that were borne in the second before its first 429: here, or where that says too little, where the 429 was drawn. */
  get borne(): number {
    const { borne = 0, elsewhere = 0 } = this.#held ?? {}
    return borne < TELLING ? elsewhere : borne
  }

  /** The same for the operator, rounded, and whose calls it concerns. */
  state(now: number): HeldTo | null {
    const rate = this.at(now)
    if (rate === null) return null
    const { drawnBy } = this.#held!
    const some = drawnBy.size === 1 ? 'one caller' : 'several callers'
    return { perSecond: Math.round(rate * 10) / 10, concerns: concerns(drawnBy) ? 'everybody' : some }
  }

  /** A call of this caller (null: a probe) drew a 429, and the route is left alone until `until`. */
  slow(caller: string | null, now: number, until: number): void {
    // What was in flight draws one as well: it was not borne either.
    if (this.#held !== null && now < this.#held.until) this.#held.borne -= 1
    this.#hold([caller], now, until, -1)
  }

  /**
   * Calls of another process drew one, where `borne` were borne, 0 if that is unknown: what this one sends is its own part of the whole.
   */
  takeIn(drawnBy: readonly (string | null)[], borne: number, now: number, until: number): void {
    const held = this.#held
    const isOver = held !== null && now >= held.until && until < held.until + SAME
    if (isOver || drawnBy.length === 0) return
    const taken = this.#hold(drawnBy, now, until, 0)
    if (borne > 0) taken.elsewhere = borne
  }

  #hold(drawnBy: readonly (string | null)[], now: number, until: number, more: number): Held {
    let held = this.#held
    if (held === null || now >= held.until) {
      const borne = this.#lastSecond(now) + more
      held = { borne, elsewhere: 0, until, drawnBy: new Set(), tokens: 1, at: until }
    }
    held.until = held.at = Math.max(held.until, until)
    for (const one of drawnBy) if (one === null || held.drawnBy.size < REMEMBERED) held.drawnBy.add(one)
    return (this.#held = held)
  }

  /** Calls begun in the last second; of the window before, the part that is in it. */
  #lastSecond(now: number): number {
    if (now - this.#since >= WINDOW) this.#roll(now)
    return this.#begun + this.#before * (1 - (now - this.#since) / WINDOW)
  }

  #roll(now: number): void {
    const isNext = now - this.#since < 2 * WINDOW
    this.#before = isNext ? this.#begun : 0
    this.#since = isNext ? this.#since + WINDOW : now
    this.#begun = 0
  }
}
