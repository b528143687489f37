/**
 * How much of something bounded one caller may hold: at most twice what is free. So a caller alone gets two thirds, two that want all get
 * two fifths each, and whatever many of them do, some of it is free for one that holds nothing yet (the dynamic threshold by which
 * switches share a buffer, Choudhury and Hahne, 1998).
 */

/** Counts below which a number of connections or calls is not divided: a few that one caller may not use help nobody. */
export const DIVISIBLE_FROM = 32

/** What one caller may hold, as a multiple of what is free. */
const TIMES_FREE = 2
/** Callers remembered that hold nothing: to forget one at each last call, and remember it at its next, costs more. */
const IDLE = 1024

/** What one caller holds. */
interface Held {
  amount: number
}

/** Counts what is held, in all and by caller. Its limit is read at each question, so that it follows a reload. */
export class FairShare {
  readonly #limit: () => number
  readonly #divisibleFrom: number
  #total = 0
  readonly #byCaller = new Map<string, Held>()
  /** Callers that hold something. */
  #holders = 0

  /** A limit below `divisibleFrom` is not divided: the first to come may hold all of it. */
  constructor(limit: () => number, divisibleFrom = 0) {
    this.#limit = limit
    this.#divisibleFrom = divisibleFrom
  }

  get limit(): number {
    return this.#limit()
  }

  /** Held by everybody. */
  get total(): number {
    return this.#total
  }

  /** Whether `amount` more is available and stays within the caller's share; without a caller, only whether it is available. */
  fits(amount: number, caller?: string): boolean {
    const limit = this.#limit()
    const free = limit - this.#total - amount
    if (free < 0) return false
    if (caller === undefined || limit < this.#divisibleFrom) return true
    // What all of them hold is within one share: nobody need be looked up.
    if (this.#total + amount <= TIMES_FREE * free) return true
    return this.#heldBy(caller) + amount <= TIMES_FREE * free
  }

  /** Whether `amount` no longer fits for this caller, and it already holds at least an equal share of the total. */
  isSpent(amount: number, caller: string): boolean {
    if (this.fits(amount, caller)) return false
    const held = this.#heldBy(caller)
    return held > 0 && held * this.#holders >= this.#total
  }

  /** Whether the limit is exceeded and this caller holds at least an equal share of it; without a caller, whether it is exceeded. */
  isOverdrawn(caller?: string): boolean {
    const limit = this.#limit()
    if (this.#total <= limit) return false
    return caller === undefined || this.#heldBy(caller) * this.#holders >= limit
  }

  /** Takes it, whether it fits or not. */
  take(amount: number, caller?: string): void {
    this.#total += amount
    if (caller !== undefined) this.#change(caller, amount)
  }

  giveBack(amount: number, caller?: string): void {
    this.#total -= amount
    if (caller !== undefined) this.#change(caller, -amount)
  }

  #heldBy(caller: string): number {
    return this.#byCaller.get(caller)?.amount ?? 0
  }

  #change(caller: string, by: number): void {
    let held = this.#byCaller.get(caller)
    if (held === undefined) this.#byCaller.set(caller, (held = { amount: 0 }))
    if (held.amount === 0) this.#holders += 1
    held.amount += by
    if (held.amount !== 0) return
    this.#holders -= 1
    if (this.#byCaller.size - this.#holders > IDLE) this.#forget()
  }

  #forget(): void {
    for (const [caller, { amount }] of this.#byCaller) if (amount === 0) this.#byCaller.delete(caller)
  }
}
