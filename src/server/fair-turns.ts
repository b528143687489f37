/**
 * Begins calls in turns of the event loop: a few reads can bring a thousand, and whoever comes behind them would wait for all. What does
 * not fit into one turn begins in the next ones, connection by connection.
 */

/** Milliseconds of beginning calls in one turn of the loop. */
const SLICE = 5

/** What waits of one connection. */
interface Line {
  readonly works: (() => void)[]
}

/** Does the work of many connections, in each one's own order. */
export class FairTurns {
  /** Tells turns of the loop apart: a number that changes with each, or at least with each in which anything was answered. */
  readonly #turnNow: () => number
  readonly #lineOf = new WeakMap<object, Line>()
  /** Lines of which something waits; whose turn is next comes first. */
  readonly #waiting: Line[] = []
  #isScheduled = false
  #turn = -1
  /** When this turn has done enough. */
  #endsAt = 0

  constructor(turnNow: () => number) {
    this.#turnNow = turnNow
  }

  /** Whether work may be done now; if not, it is to be added to what waits. */
  mayBegin(): boolean {
    if (this.#waiting.length > 0) return false
    const now = performance.now()
    if (now < this.#endsAt) return true
    const turn = this.#turnNow()
    if (turn === this.#turn) return false
    this.#turn = turn
    this.#endsAt = now + SLICE
    return true
  }

  /** Does `work` of a connection in one of the next turns. */
  add(connection: object, work: () => void): void {
    let line = this.#lineOf.get(connection)
    if (line === undefined) this.#lineOf.set(connection, (line = { works: [] }))
    if (line.works.push(work) === 1) this.#waiting.push(line)
    this.#schedule()
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(this.#next)
  }

  readonly #next = (): void => {
    this.#isScheduled = false
    this.#turn = this.#turnNow()
    this.#endsAt = performance.now() + SLICE
    let line: Line | undefined
    while (performance.now() < this.#endsAt && (line = this.#waiting.shift()) !== undefined) {
      const work = line.works.shift()
      if (line.works.length > 0) this.#waiting.push(line)
      work?.()
    }
    if (this.#waiting.length > 0) this.#schedule()
  }
}
