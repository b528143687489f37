/** The first moments of a keeper: the workers of the one before have charged calls that its ledger does not have yet. */
import { orAfter } from '../net/or-after.ts'

/** Milliseconds after a start in which the workers of before are waited for. */
const GATHERING = 1_000
/** The same for who asks what all workers say, who waits a moment longer. */
const SETTLING = 2_000

/** Waits until all have come, or for a second, and has them hand over what they hold. */
export class Arrival {
  /** Whether the ledger has all of it. */
  isOver = false
  readonly over: Promise<void>
  /** Resolves when all have come, or two seconds are over. */
  readonly settled: Promise<void>
  readonly #expected: number
  #allCame: () => void = () => undefined

  /** `expected` workers; 0 where none was there before. */
  constructor(expected: number, gather: () => Promise<void>) {
    this.#expected = expected
    const all = new Promise<void>(resolve => {
      this.#allCame = resolve
    })
    this.isOver = expected === 0
    this.over = this.isOver ? Promise.resolve() : this.#takeIn(all, gather)
    this.settled = this.isOver ? Promise.resolve() : orAfter(all, SETTLING).then(() => undefined)
  }

  /** Hears how many are there. */
  came(count: number): void {
    if (count >= this.#expected) this.#allCame()
  }

  async #takeIn(all: Promise<void>, gather: () => Promise<void>): Promise<void> {
    await orAfter(all, GATHERING)
    await gather()
    this.isOver = true
  }
}
