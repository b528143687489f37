/** The reply of one batch, which all of its calls share: what they have been answered with, and what is on its way from their nodes. */
import type { Holder, NoRoom } from '../../limits/byte-budget.ts'

/** Counts bytes up to the largest reply to a batch, and passes them on to whom counts for the message. */
export class ReplyShare {
  /** Bytes for which there is room; refusals may pass it, because every call is answered. */
  left: number
  readonly #most: number
  readonly #message: Holder | null

  constructor(bytes: number, message: Holder | null) {
    this.left = bytes
    this.#most = bytes
    this.#message = message
  }

  /** Bytes that its calls hold. */
  get held(): number {
    return this.#most - this.left
  }

  /** Begins with one call. */
  open(): ItemShare {
    return new ItemShare(this)
  }

  get isSpent(): boolean {
    return this.#message?.isSpent === true
  }

  /** Takes bytes; without room for them in the reply or in memory it takes none. */
  take(bytes: number): NoRoom | null {
    if (bytes > this.left) return 'too_large'
    const noRoom = this.#message?.take(bytes) ?? null
    if (noRoom === null) this.left -= bytes
    return noRoom
  }

  giveBack(bytes: number): void {
    this.left += bytes
    this.#message?.giveBack(bytes)
  }
}

/** What one call holds of the reply. */
export class ItemShare implements Holder {
  readonly #share: ReplyShare
  #held = 0
  #isSettled = false

  constructor(share: ReplyShare) {
    this.#share = share
  }

  get isSpent(): boolean {
    return this.#share.isSpent
  }

  take(bytes: number): NoRoom | null {
    const noRoom = this.#isSettled ? 'no_room' : this.#share.take(bytes)
    if (noRoom === null) this.#held += bytes
    return noRoom
  }

  giveBack(bytes: number): void {
    if (this.#isSettled) return
    this.#held -= bytes
    this.#share.giveBack(bytes)
  }

  /** Holds `bytes` of text in place of what came for it; false, and nothing is held, where they do not fit. */
  settle(bytes: number): boolean {
    if (this.#held > 0) this.#share.giveBack(this.#held)
    this.#held = 0
    const fits = this.take(bytes) === null
    this.#isSettled = true
    return fits
  }

  /** The text has left. */
  release(): void {
    this.#share.giveBack(this.#held)
    this.#held = 0
  }
}
