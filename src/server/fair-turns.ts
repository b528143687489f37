/**
 * Begins calls in turns of the event loop: a few reads can bring a thousand, and whoever comes behind them would wait for all. What does
 * not fit into one turn begins in the next ones, connection by connection.
 */

/** Milliseconds of beginning calls in one turn of the loop, and of what is long: a call of somebody else needs several turns. */
const SLICE = 5
const LONG_SLICE = 2

type Work = () => void

/** What waits of one connection: what was begun goes on before anything else of it begins. */
interface Line {
  readonly begun: Work[]
  readonly new: Work[]
  isWaiting: boolean
}

/** Does the work of many connections, in each one's own order; what can begin comes before what is long. */
export class FairTurns {
  /** Tells turns of the loop apart: a number that changes with each, or at least with each in which anything was answered. */
  readonly #turnNow: () => number
  readonly #lineOf = new WeakMap<object, Line>()
  /** Connections with something that can begin, and those with something long that goes on; whose turn is next comes first. */
  readonly #beginning: Line[] = []
  readonly #goingOn: Line[] = []
  #isScheduled = false
  #turn = -1
  /** When this turn has done enough. */
  #endsAt = 0

  constructor(turnNow: () => number) {
    this.#turnNow = turnNow
  }

  /** Whether work may be done now; if not, it is to be added to what waits. */
  mayBegin(): boolean {
    if (this.#isScheduled) return false
    const now = performance.now()
    if (now < this.#endsAt) return true
    const turn = this.#turnNow()
    if (turn === this.#turn) return false
    this.#turn = turn
    this.#endsAt = now + SLICE
    return true
  }

  /** Does `work` of a connection in one of the next turns. */
  add(connection: object, work: Work): void {
    const line = this.#line(connection)
    line.new.push(work)
    this.#wait(line)
  }

  /** Goes on with work that is long, and has been begun, in one of the next turns. */
  goOn(connection: object, work: Work): void {
    const line = this.#line(connection)
    line.begun.push(work)
    this.#wait(line)
  }

  #line(connection: object): Line {
    let line = this.#lineOf.get(connection)
    if (line === undefined) this.#lineOf.set(connection, (line = { begun: [], new: [], isWaiting: false }))
    return line
  }

  #wait(line: Line): void {
    if (!line.isWaiting) this.#enqueue(line)
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(this.#next)
  }

  #enqueue(line: Line): void {
    const lines = line.begun.length > 0 ? this.#goingOn : this.#beginning
    line.isWaiting = line.begun.length + line.new.length > 0
    if (line.isWaiting) lines.push(line)
  }

  readonly #next = (): void => {
    this.#turn = this.#turnNow()
    const now = performance.now()
    this.#endsAt = now + SLICE
    // However many calls begin, what is long comes to its end.
    let isMore = this.#do(this.#goingOn)
    while (isMore && performance.now() < now + LONG_SLICE) isMore = this.#do(this.#goingOn)
    isMore = true
    while (isMore && performance.now() < this.#endsAt) isMore = this.#do(this.#beginning)
    this.#isScheduled = this.#beginning.length + this.#goingOn.length > 0
    if (this.#isScheduled) setImmediate(this.#next)
  }

  /** Does one piece of work of whose turn it is; false where nothing waits. */
  #do(lines: Line[]): boolean {
    const line = lines.shift()
    if (line === undefined) return false
    const work = line.begun.shift() ?? line.new.shift()
    try {
      work?.()
    } finally {
      this.#enqueue(line)
    }
    return true
  }
}
