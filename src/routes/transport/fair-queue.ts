/** Chooses the next request to send when a route has no free connection. */
import { DIVISIBLE_FROM, FairShare } from '../../limits/fair-share.ts'

/** Callers that are looked at for the next turn. */
const LOOKED_AT = 256

/** A request that is to be sent. */
export interface Turn {
  /** Undefined for questions of our own, which wait for nobody. */
  readonly caller: string | undefined
  /** Whether the caller still waits for the answer; one that does not is notified in its turn. */
  readonly isWanted: boolean
  /** Sends it. */
  begin(): void
  state: 'waiting' | 'begun' | 'over'
}

/** Lets so many requests be under way at a time. */
export class FairQueue {
  readonly #share: FairShare
  /** By caller; who waits longest comes first. Those who wait no more leave at once, from wherever they stand. */
  readonly #waiting = new Map<string, Set<Turn>>()
  #isBeginning = false
  /** Places given back that nobody has been looked for yet. */
  #free = 0
  #whenIdle: (() => void)[] = []

  constructor(most: number) {
    this.#share = new FairShare(() => most, { from: DIVISIBLE_FROM })
  }

  /** Begins it now, or when the caller's turn has come. */
  enter(turn: Turn): void {
    const { caller } = turn
    if (caller === undefined || (!this.#waiting.has(caller) && this.#share.fits(1, caller))) this.#begin(turn)
    else {
      const line = this.#waiting.get(caller)
      if (line === undefined) this.#waiting.set(caller, new Set([turn]))
      else line.add(turn)
    }
  }

  /** Ends a turn, whether it has begun or not. */
  leave(turn: Turn): void {
    const { state, caller } = turn
    turn.state = 'over'
    if (state === 'waiting' && caller !== undefined) this.#remove(turn, caller)
    if (state === 'begun') {
      this.#share.giveBack(1, caller)
      if (this.#waiting.size > 0) this.#beginNext()
    }
    if (this.#isIdle) for (const resolve of this.#whenIdle.splice(0)) resolve()
  }

  /** Resolves when no turn has begun or waits. */
  async idle(): Promise<void> {
    if (!this.#isIdle) await new Promise<void>(resolve => this.#whenIdle.push(resolve))
  }

  get #isIdle(): boolean {
    return this.#share.total === 0 && this.#waiting.size === 0
  }

  /** Turns may be over as soon as they begin, a thousand one behind the other: none begins within another. */
  #beginNext(): void {
    this.#free += 1
    if (this.#isBeginning) return
    this.#isBeginning = true
    try {
      for (; this.#free > 0; this.#free -= 1) this.#next()
    } finally {
      this.#isBeginning = false
    }
  }

  #begin(turn: Turn): void {
    turn.state = 'begun'
    this.#share.take(1, turn.caller)
    turn.begin()
  }

  #next(): void {
    const caller = this.#first()
    const line = caller === undefined ? undefined : this.#waiting.get(caller)
    if (caller === undefined || line === undefined) return
    const [turn] = line
    if (turn === undefined) return
    line.delete(turn)
    // Its next one comes behind those of everybody else.
    this.#waiting.delete(caller)
    if (line.size > 0) this.#waiting.set(caller, line)
    this.#begin(turn)
  }

  #remove(turn: Turn, caller: string): void {
    const line = this.#waiting.get(caller)
    if (line?.delete(turn) === true && line.size === 0) this.#waiting.delete(caller)
  }

  /** Whose turn it is, of those who have waited longest. */
  #first(): string | undefined {
    let first: string | undefined
    let fewest = Infinity
    let seen = 0
    for (const [caller, line] of this.#waiting) {
      for (const turn of line)
        if (turn.isWanted) break
        else line.delete(turn)
      if (line.size === 0) this.#waiting.delete(caller)
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
