/** What the calls of one row were like lately. A row belongs to a snapshot, so what is known of it ends with a reload. */
import { randomInt } from 'node:crypto'

/** Replies that count, about: the newest one for an eighth. */
const REPLIES = 8

/** One row's calls that may be shared. */
export class RowTraffic {
  /** For hashes of its calls; nobody outside knows it. */
  readonly seed = randomInt(2 ** 32)
  #long = 0

  /** A reply came, and could be shared or was too long for that. */
  learn(isLong: boolean): void {
    this.#long += ((isLong ? 1 : 0) - this.#long) / REPLIES
  }

  /** Whether most replies were too long to be shared: to wait for one of those would only take longer. */
  get isMostlyLong(): boolean {
    return this.#long > 0.5
  }
}
