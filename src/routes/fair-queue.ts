/**
 * Who is sent to an upstream next, once all of its connections are taken: who has the fewest calls there, and of those who waits longest,
 * each within its share. Calls of one caller that are slow, or many, wait for each other and for nobody else.
 */
import { DIVISIBLE_FROM, FairShare } from '../limits/fair-share.ts'

/** Callers that are looked at for the next turn. */
const LOOKED_AT = 256

/** A request that is to be sent. */
export interface Turn {
  /** Undefined for questions of our own, which wait for nobody. */
  readonly caller: string | undefined
  /** Sends it. */
  begin(): void
  state: 'waiting' | 'begun' | 'over'
}

/** Lets so many requests be under way at a time. */
export class FairQueue {
  readonly #share: FairShare
  /** By caller; who waits longest comes first. */
  readonly #waiting = new Map<string, Turn[]>()

  constructor(most: number) {
    this.#share = new FairShare(() => most, { from: DIVISIBLE_FROM })
  }

  /** Begins it now, or when the caller's turn has come. */
  enter(turn: Turn): void {
    const { caller } = turn
    if (caller === undefined || (!this.#waiting.has(caller) && this.#share.fits(1, caller))) this.#begin(turn)
    else {
      const line = this.#waiting.get(caller)
      if (line === undefined) this.#waiting.set(caller, [turn])
      else line.push(turn)
    }
  }

  /** Ends a turn, whether it has begun or not. */
  leave(turn: Turn): void {
    const { state, caller } = turn
    turn.state = 'over'
    if (state !== 'begun') return
    this.#share.giveBack(1, caller)
    if (this.#waiting.size > 0) this.#next()
  }

  #begin(turn: Turn): void {
    turn.state = 'begun'
    this.#share.take(1, turn.caller)
    turn.begin()
  }

  #next(): void {
    const caller = this.#first()
    const line = caller === undefined ? undefined : this.#waiting.get(caller)
    const turn = line?.shift()
    if (caller === undefined || line === undefined || turn === undefined) return
    // Its next one comes behind those of everybody else.
    this.#waiting.delete(caller)
    if (line.length > 0) this.#waiting.set(caller, line)
    this.#begin(turn)
  }

  /** Whose turn it is, of those who have waited longest. */
  #first(): string | undefined {
    let first: string | undefined
    let fewest = Infinity
    let seen = 0
    for (const [caller, line] of this.#waiting) {
      while (line[0]?.state === 'over') line.shift()
      if (line.length === 0) this.#waiting.delete(caller)
      else if (this.#share.fits(1, caller) && this.#share.heldBy(caller) < fewest) {
        first = caller
        fewest = this.#share.heldBy(caller)
      }
      seen += 1
      if (fewest === 0 || seen === LOOKED_AT) break
    }
    return first
  }
}
