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
  readonly #lineOf = new WeakMap<object, Line>()
  /** Lines of which something waits; whose turn is next comes first. */
  #waiting: Line[] = []
  /** When this turn has done enough; 0 while it has done nothing. */
  #endsAt = 0

  /** Does `work` of a connection now, or in one of the next turns. */
  run(connection: object, work: () => void): void {
    if (this.#endsAt === 0) this.#begin()
    if (this.#waiting.length === 0 && performance.now() < this.#endsAt) {
      work()
      return
    }
    let line = this.#lineOf.get(connection)
    if (line === undefined) this.#lineOf.set(connection, (line = { works: [] }))
    if (line.works.push(work) === 1) this.#waiting.push(line)
  }

  #begin(): void {
    this.#endsAt = performance.now() + SLICE
    setImmediate(this.#next)
  }

  readonly #next = (): void => {
    this.#endsAt = 0
    if (this.#waiting.length === 0) return
    this.#begin()
    let first: Line | undefined
    while (performance.now() < this.#endsAt && (first = this.#waiting.shift()) !== undefined) {
      const work = first.works.shift()
      if (first.works.length > 0) this.#waiting.push(first)
      work?.()
    }
  }
}
