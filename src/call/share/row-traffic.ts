/** What the calls of one row were like lately. A row belongs to a snapshot, so what is known of it ends with a reload. */
import { randomInt } from 'node:crypto'

/** Replies that count, about: the newest one for an eighth. */
const REPLIES = 8
/** Callers that count; the oldest makes room. */
const CALLERS = 8

/** The replies to one caller. */
interface Replies {
  readonly caller: string
  /** Share of long ones. */
  long: number
}

/** One row's calls that may be shared. */
export class RowTraffic {
  /** For hashes of its calls; nobody outside knows it. */
  readonly seed = randomInt(2 ** 32)
  readonly #callers: Replies[] = []

  /** A reply came, and could be shared or was too long for that. */
  learn(isLong: boolean, caller: string): void {
    let own = this.#callers.find(each => each.caller === caller)
    if (own === undefined) {
      if (this.#callers.length === CALLERS) this.#callers.shift()
      own = { caller, long: 0 }
      this.#callers.push(own)
    }
    own.long += ((isLong ? 1 : 0) - own.long) / REPLIES
  }

  /**
   * Whether most replies to this caller were too long to be shared, for a caller that is not known those to most callers: to wait for one of
   * those would only take longer.
   */
  isMostlyLong(caller: string): boolean {
    let long = 0
    for (const each of this.#callers) {
      const isLong = each.long > 0.5
      if (each.caller === caller) return isLong
      if (isLong) long += 1
    }
    return long * 2 > this.#callers.length
  }
}
