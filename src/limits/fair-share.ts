/**
 * How much of something bounded one caller may hold: at most twice what is free (the dynamic threshold by which switches share a buffer,
 * Choudhury and Hahne, 1998). A reserve does not count as free: it is for accounts that hold very little, because each greedy caller
 * leaves the next one only a third of the rest. All callers of the public route count together as one more caller, as anybody can use many
 * addresses, and divide that caller's share in the same way.
 */

/** Counts below which a number of connections or calls is not divided: a few that one caller may not use help nobody. */
export const DIVISIBLE_FROM = 32

/** What one caller may hold, as a multiple of what is free. */
const TIMES_FREE = 2
/** One part in so many is the reserve. */
const RESERVE = 8
/** Connections or calls up to which an account draws on the reserve. */
const FEW = 4
/** Callers remembered that hold nothing: to forget one at each last call, and remember it at its next, costs more. */
const IDLE = 1024

/** The name of a caller of the public route: its address. No account is called so. */
export type PublicCaller = `public ${string}`

export const PUBLIC = 'public ' satisfies PublicCaller

/** What divides it. */
export interface Division {
  /** A limit below this is not divided: the first to come may hold all of it. */
  readonly from?: number
  /** What an account may always hold, as long as there is any. */
  readonly few?: number
}

/** What one caller holds. */
interface Held {
  amount: number
}

/** Counts what is held, in all and by caller. Its limit is read at each question, so that it follows a reload. */
export class FairShare {
  readonly #limit: () => number
  readonly #from: number
  readonly #few: number
  #total = 0
  readonly #byCaller = new Map<string, Held>()
  /** Callers that hold something. */
  #holders = 0
  /** Held by all callers of the public route. */
  #public = 0

  constructor(limit: () => number, { from = 0, few = FEW }: Division = {}) {
    this.#limit = limit
    this.#from = from
    this.#few = few
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
    const left = limit - this.#total - amount
    if (left < 0) return false
    if (caller === undefined || limit < this.#from) return true
    const most = TIMES_FREE * (left - limit / RESERVE)
    if (caller.startsWith(PUBLIC)) {
      const free = most - this.#public - amount
      return free >= 0 && this.heldBy(caller) + amount <= TIMES_FREE * free
    }
    // What all of them hold is within one share: nobody need be looked up.
    if (this.#total + amount <= most) return true
    const held = this.heldBy(caller) + amount
    return held <= this.#few || held <= most
  }

  /** Whether `amount` no longer fits for this caller, and it already holds at least an equal share of the total. */
  isSpent(amount: number, caller: string): boolean {
    if (this.fits(amount, caller)) return false
    const held = this.heldBy(caller)
    return held > 0 && held * this.#holders >= this.#total
  }

  /** Whether the limit is exceeded and this caller holds at least an equal share of it; without a caller, whether it is exceeded. */
  isOverdrawn(caller?: string): boolean {
    const limit = this.#limit()
    if (this.#total <= limit) return false
    return caller === undefined || this.heldBy(caller) * this.#holders >= limit
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

  /** Held by this caller. */
  heldBy(caller: string): number {
    return this.#byCaller.get(caller)?.amount ?? 0
  }

  #change(caller: string, by: number): void {
    let held = this.#byCaller.get(caller)
    if (held === undefined) this.#byCaller.set(caller, (held = { amount: 0 }))
    if (held.amount === 0) this.#holders += 1
    held.amount += by
    if (caller.startsWith(PUBLIC)) this.#public += by
    if (held.amount !== 0) return
    this.#holders -= 1
    if (this.#byCaller.size - this.#holders > IDLE) this.#forget()
  }

  #forget(): void {
    for (const [caller, { amount }] of this.#byCaller) if (amount === 0) this.#byCaller.delete(caller)
  }
}
