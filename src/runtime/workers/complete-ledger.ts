/** What is left of a quota is read from the ledger: not before that has all that the workers have charged. */
import type { BucketsOfAll } from '../../limits/buckets.ts'
import type { LimitQuestion } from '../../ports/limit-store.ts'
import type { News } from './messages.ts'
import { orAfter } from '../../net/or-after.ts'

/** All workers. */
interface Crew {
  gather(): Promise<void>
  broadcast(news: News): void
}

/** Knows when it has. */
export class CompleteLedger {
  readonly #arrival: Arrival
  readonly #buckets: Pick<BucketsOfAll, 'has'>
  readonly #crew: Crew

  /** `expected` workers of the keeper before. */
  constructor(expected: number, buckets: Pick<BucketsOfAll, 'has'>, crew: Crew) {
    this.#arrival = new Arrival(expected, () => crew.gather())
    this.#buckets = buckets
    this.#crew = crew
  }

  /** Resolves when the workers of before have come, or two seconds after the start. */
  get settled(): Promise<void> {
    return this.#arrival.settled
  }

  /** Hears how many workers are there. */
  came(count: number): void {
    this.#arrival.came(count)
  }

  /** Resolves when questions can be answered; null where they can be at once. */
  before(questions: readonly LimitQuestion[]): Promise<void> | null {
    const isNew = questions.some(({ key, quota }) => quota?.endpoint !== undefined && !this.#buckets.has(key))
    if (isNew) return this.#begin()
    return this.#arrival.isOver || questions.every(({ quota }) => quota === undefined)
      ? null
      : this.#arrival.over
  }

  /**
   * A daily limit may be set at any moment of a day, of which the workers have charged calls that no bucket knows of: each takes the limit in first, and
   * then hands over what it has charged without it.
   */
  async #begin(): Promise<void> {
    await this.#arrival.over
    this.#crew.broadcast({ t: 'accounts' })
    await this.#crew.gather()
  }
}

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
