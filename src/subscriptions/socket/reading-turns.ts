/** How long the sockets of upstreams may occupy one turn of the event loop, all of them together. */

/** Milliseconds. */
const TURN = 5

/** A socket with frames that wait to be read. */
export interface Reader {
  /** Reads one frame; whether another one waits. */
  readOne(): boolean
}

/** Lets readers read at once while a turn has time left, and takes the others in rotation in the turns that follow. */
export class ReadingTurns {
  #waiting = new Set<Reader>()
  /** When the reading of this turn began; null before its first frame. */
  #begun: number | null = null

  /** Whether a frame may be read now; otherwise the reader keeps it and waits. */
  hasTime(): boolean {
    const now = performance.now()
    if (this.#begun !== null) return now - this.#begun < TURN
    this.#begun = now
    setImmediate(() => {
      this.#next()
    })
    return true
  }

  /** Has the reader called in the turns that follow, until nothing of it waits. */
  wait(reader: Reader): void {
    this.#waiting.add(reader)
  }

  #next(): void {
    if (this.#waiting.size === 0) {
      this.#begun = null
      return
    }
    const begun = performance.now()
    this.#begun = begun
    do {
      const [reader] = this.#waiting
      if (reader === undefined) break
      this.#waiting.delete(reader)
      // Behind all others: each gets its frame before one gets its second.
      if (reader.readOne()) this.#waiting.add(reader)
    } while (performance.now() - begun < TURN)
    setImmediate(() => {
      this.#next()
    })
  }
}
