/** What one WebSocket has received of a message that is not complete: a client may send one in pieces and never end it. */
import { FREE, Hold } from '../../limits/byte-budget.ts'
import type { Budget } from '../../limits/byte-budget.ts'

/** Counts the received bytes of one connection in the budget until the message they are part of is complete. */
export class PartialMessage {
  readonly #budget: Budget
  #hold: Hold
  #received = 0

  constructor(budget: Budget) {
    this.#budget = budget
    this.#hold = new Hold(budget)
  }

  /** Counts received bytes; returns false if they do not fit in memory. */
  receive(bytes: number): boolean {
    // What was free until now is part of what the hold counts, which leaves as much of it free.
    const before = this.#received <= FREE ? this.#received : 0
    this.#received += bytes
    return this.#received <= FREE || this.#hold.take(before + bytes) === null
  }

  /** The message is complete, and counted by who handles it. */
  complete(): void {
    const isFree = this.#received <= FREE
    this.#received = 0
    if (isFree) return
    this.#hold.release()
    this.#hold = new Hold(this.#budget)
  }

  /** Gives everything back: the connection is gone. */
  close(): void {
    this.#hold.release()
  }
}
