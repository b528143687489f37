/**
 * Long replies are read in turns of the event loop: each costs milliseconds, and a hundred that come at the same moment must not hold up
 * everybody else's calls meanwhile.
 */

/** Bytes up to which a reply is read at once, whatever waits. */
const SHORT = 64 * 1024
/** Bytes of long replies that one turn reads. */
const PER_TURN = 1024 * 1024

/** Does work on long replies in the order in which they came. */
export class ReplyTurns {
  #waiting: { readonly bytes: number; readonly work: () => void }[] = []
  /** Bytes read in this turn. */
  #read = 0
  #isBegun = false

  /** Does `work` on a reply of that many bytes: now while the turn has room for it, else in one of the next. */
  take(bytes: number, work: () => void): void {
    if (bytes <= SHORT) work()
    else if (this.#waiting.length > 0 || this.#read >= PER_TURN) this.#waiting.push({ bytes, work })
    else this.#do(bytes, work)
  }

  #do(bytes: number, work: () => void): void {
    this.#read += bytes
    if (!this.#isBegun) {
      this.#isBegun = true
      setImmediate(this.#next)
    }
    work()
  }

  readonly #next = (): void => {
    this.#isBegun = false
    this.#read = 0
    const first = this.#waiting.shift()
    if (first === undefined) return
    // One by one: what comes of a reply is done before the turn ends.
    this.#do(first.bytes, first.work)
  }
}
