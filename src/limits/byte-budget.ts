/**
 * The memory that clients can make the gateway hold (`limits.memory`): request bodies, frames, replies held whole, and what waits to be
 * sent. Everybody who holds such bytes takes them here first, and gives them back once.
 */
import { FairShare } from './fair-share.ts'

/**
 * Bytes of memory for a byte of a message that is being handled: as it came, as the text that is scanned and sliced, and as it is written
 * to the other side. Measured by test/isolation/timed/memory-*.test.ts.
 */
export const COPIES = 5
/** Bytes of a message that are not counted: `limits.inFlight` bounds how many such messages there are. */
export const FREE = 4 * 1024

/** A limit below which memory is not divided: a part of it would not hold one body of the default size. */
const DIVISIBLE_BYTES = 64 * 1024 * 1024

/** Bytes without which it makes no sense to ask a node: those of a reply of 64 KiB. */
const REPLY = COPIES * 64 * 1024

/** What an account may always hold, as long as there is any: some such replies. */
const FEW_BYTES = 4 * REPLY

/** Why bytes cannot be held. */
export type NoRoom = 'no_room' | 'too_large'

/** Where the bytes of one message are counted. */
export interface Holder {
  /** Whether whose message it is holds so much already that nothing should be asked of a node for it. */
  readonly isSpent: boolean
  /** Takes so many bytes more; says why they cannot be held, and then takes nothing. */
  take(bytes: number): NoRoom | null
  giveBack(bytes: number): void
}

/** The same of a message that others may outlive who work for it. */
export interface MessageHolder extends Holder {
  /** Counts what they hold for the same caller, until it is released. */
  apart(): Holder & { release(): void }
}

/** A budget of bytes: of the whole process, or one caller's part in it. */
export interface Budget {
  /** Whether whose budget it is holds as much as it may, and more than others do. */
  readonly isSpent: boolean
  /** Whether more is held than may be, so that whose budget it is has to give way. */
  readonly isOverdrawn: boolean
  /** Reserves the given number of bytes; returns false if they do not fit. */
  take(bytes: number): boolean
  /** Returns reserved bytes. */
  giveBack(bytes: number): void
}

/** The bytes held in the whole process. Its limit is read at each taking, so that it follows a reload. */
export class ByteBudget implements Budget {
  readonly #share: FairShare

  constructor(limit: () => number) {
    this.#share = new FairShare(limit, { from: DIVISIBLE_BYTES, few: FEW_BYTES })
  }

  /** Bytes that may be held. */
  get limit(): number {
    return this.#share.limit
  }

  /** Bytes held now. */
  get held(): number {
    return this.#share.total
  }

  get isSpent(): boolean {
    return !this.#share.fits(REPLY)
  }

  get isOverdrawn(): boolean {
    return this.#share.isOverdrawn()
  }

  /** The budget of one caller, who may hold no more than a fair share of what all may. */
  of(caller: string): Budget {
    return new CallerBudget(this.#share, caller)
  }

  take(bytes: number): boolean {
    return takeIfItFits(this.#share, bytes)
  }

  giveBack(bytes: number): void {
    this.#share.giveBack(bytes)
  }
}

/** One caller's part in what all hold. */
class CallerBudget implements Budget {
  readonly #share: FairShare
  readonly #caller: string

  constructor(share: FairShare, caller: string) {
    this.#share = share
    this.#caller = caller
  }

  get isSpent(): boolean {
    return this.#share.isSpent(REPLY, this.#caller)
  }

  get isOverdrawn(): boolean {
    return this.#share.isOverdrawn(this.#caller)
  }

  take(bytes: number): boolean {
    return takeIfItFits(this.#share, bytes, this.#caller)
  }

  giveBack(bytes: number): void {
    this.#share.giveBack(bytes, this.#caller)
  }
}

function takeIfItFits(share: FairShare, bytes: number, caller?: string): boolean {
  if (!share.fits(bytes, caller)) return false
  share.take(bytes, caller)
  return true
}

/** What one message holds, its copies counted in; the first 4 KiB are free. */
export class Hold implements MessageHolder {
  readonly budget: Budget
  #size = 0
  #counted = 0
  #isOver = false

  constructor(budget: Budget) {
    this.budget = budget
  }

  /** Whether anything is to be given back. */
  get isCounted(): boolean {
    return this.#counted > 0
  }

  get isSpent(): boolean {
    return this.budget.isSpent
  }

  apart(): Hold {
    return new Hold(this.budget)
  }

  take(bytes: number): NoRoom | null {
    const size = this.#size + bytes
    if (size > FREE) {
      const more = (size - FREE) * COPIES - this.#counted
      if (this.#isOver || !this.budget.take(more)) return 'no_room'
      this.#counted += more
    }
    this.#size = size
    return null
  }

  giveBack(bytes: number): void {
    // What came too late for its message was given back with it.
    if (this.#isOver) return
    this.#size -= bytes
    const less = this.#counted - Math.max(0, this.#size - FREE) * COPIES
    if (less <= 0) return
    this.#counted -= less
    this.budget.giveBack(less)
  }

  /** Gives everything back; nothing can be taken any more. */
  release(): void {
    this.#isOver = true
    if (this.#counted > 0) this.budget.giveBack(this.#counted)
    this.#counted = 0
  }
}
