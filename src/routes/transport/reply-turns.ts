/**
 * Long replies are read in turns of the event loop: each costs milliseconds, and a hundred that come at the same moment must not hold up
 * everybody else's calls meanwhile.
 */

/** Bytes up to which a reply is read at once, whatever waits. */
const SHORT = 64 * 1024
/** Bytes of long replies that one turn takes in or reads. */
const PER_TURN = 512 * 1024

interface Waiting {
  readonly bytes: number
  readonly work: () => void
}

/** Does work on long replies in the order in which they came. */
export class ReplyTurns {
  readonly #waiting: Waiting[] = []
  /** Bytes read in this turn. */
  #read = 0
  #isBegun = false

  /** Does `work` on a reply of that many bytes: now while the turn has room for it, else in one of the next. */
  take(bytes: number, work: () => void): void {
    if (bytes <= SHORT) work()
    else if (this.#waiting.length > 0 || this.#read >= PER_TURN) this.#waiting.push({ bytes, work })
    else this.#do(bytes, work)
  }

  /** Counts bytes that have been taken in of a reply with so many so far; false where the turn has had enough, and the reply has to rest. */
  count(bytes: number, soFar: number): boolean {
    if (soFar <= SHORT) return true
    if (this.#waiting.length > 0 || this.#read >= PER_TURN) return false
    this.#add(bytes)
    return true
  }

  /** Calls `goOn` in a later turn, which has room for so many bytes more of a reply that rests. */
  rest(bytes: number, goOn: () => void): void {
    this.#waiting.push({ bytes, work: goOn })
  }

  #do(bytes: number, work: () => void): void {
    this.#add(bytes)
    work()
  }

  #add(bytes: number): void {
    this.#read += bytes
    if (this.#isBegun) return
    this.#isBegun = true
    setImmediate(this.#next)
  }

  readonly #next = (): void => {
    this.#isBegun = false
    this.#read = 0
    for (let first = this.#waiting[0]; first !== undefined; first = this.#waiting[0]) {
      // One that is longer than what a turn reads has a turn of its own.
      if (this.#read > 0 && this.#read + first.bytes > PER_TURN) return
      this.#waiting.shift()
      this.#do(first.bytes, first.work)
    }
  }
}
