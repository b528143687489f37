/** What is left of a quota is read from the ledger: not before that has all that the workers have charged. */
import type { BucketsOfAll } from '../limits/buckets.ts'
import type { LimitQuestion } from '../ports/limit-store.ts'
import { Arrival } from './arrival.ts'
import type { News } from './messages.ts'

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
