/**
 * Begins calls in turns of the event loop: a few reads can bring a thousand, and whoever comes behind them would wait for all. What does
 * not fit into one turn begins in the next ones, caller by caller and connection by connection.
 */

/** Milliseconds of beginning calls in one turn of the loop, and of what is long: a call of somebody else needs several turns. */
const SLICE = 1.5
const LONG_SLICE = 1

/** Milliseconds of work that are long: a call takes a hundredth of it. */
const LONG_WORK = 0.75
/** Bytes of a message from which on it is long: 5 MiB take 30 to 70 ms to scan. */
const LONG_BYTES = 64 * 1024

type Work = () => void

/** What waits of one connection: what was begun goes on before anything else of it begins. */
interface Line {
  /** Whose connection it is, as it was last said. */
  caller: string
  readonly begun: Work[]
  readonly new: Work[]
  isWaiting: boolean
  /** Whether its last piece of work took long: the next one is likely to, and waits with what is long. */
  isSlow: boolean
}

/**
 * Does the work of many connections, in each one's own order; what can begin comes before what is long. Each caller has a turn after every
 * other one, however many connections it has: 300 connections of strangers made an account's long message wait for 300 of theirs.
 */
export class FairTurns {
  /** Tells turns of the loop apart: a number that changes with each, or at least with each in which anything was answered. */
  readonly #turnNow: () => number
  readonly #lineOf = new WeakMap<object, Line>()
  /** Connections with something that can begin, and those with something long that goes on. */
  readonly #beginning = new Rounds<Line>()
  readonly #goingOn = new Rounds<Line>()
  /** Whether a turn is coming; `#timer` while only what is long waits, and rests. */
  #isScheduled = false
  #timer: NodeJS.Timeout | null = null
  #restsUntil = 0
  #turn = -1
  /** When this turn has done enough. */
  #endsAt = 0

  constructor(turnNow: () => number) {
    this.#turnNow = turnNow
  }

  /** Begins with a request of which only its connection is known; `stranger` names whose it is until a caller is. Says whether it has begun. */
  admit(connection: object, stranger: () => string, work: Work): boolean {
    if (this.#mayBegin()) {
      work()
      return true
    }
    const line = this.#line(connection, this.#lineOf.get(connection)?.caller ?? stranger())
    line.new.push(work)
    this.#wait(line)
    return false
  }

  /** Does `work` on a message of so many bytes now, where this turn has time for it, else in one of the next. `caller` is whose it is. */
  begin(connection: object, caller: string, bytes: number, work: Work): void {
    if (bytes > LONG_BYTES) this.goOn(connection, caller, work)
    else if (this.#mayBegin()) work()
    else {
      const line = this.#line(connection, caller)
      line.new.push(work)
      this.#wait(line)
    }
  }

  /** Goes on with work that is long in one of the next turns. */
  goOn(connection: object, caller: string, work: Work): void {
    const line = this.#line(connection, caller)
    line.begun.push(work)
    this.#wait(line)
  }

  #mayBegin(): boolean {
    if (this.#isScheduled) return false
    const now = performance.now()
    if (now < this.#endsAt) return true
    const turn = this.#turnNow()
    if (turn === this.#turn) return false
    this.#turn = turn
    this.#endsAt = now + SLICE
    return true
  }

  #line(connection: object, caller: string): Line {
    let line = this.#lineOf.get(connection)
    if (line === undefined)
      this.#lineOf.set(connection, (line = { caller, begun: [], new: [], isWaiting: false, isSlow: false }))
    line.caller = caller
    return line
  }

  #wait(line: Line): void {
    if (!line.isWaiting) this.#enqueue(line)
    this.#schedule()
  }

  #schedule(): void {
    if (this.#isScheduled) return
    const rest = !this.#goingOn.isEmpty ? this.#restsUntil - performance.now() : Infinity
    if (!this.#beginning.isEmpty || rest <= 0) {
      this.#isScheduled = true
      setImmediate(this.#next)
    } else if (rest < Infinity)
      this.#timer ??= setTimeout(() => {
        this.#timer = null
        this.#schedule()
      }, rest)
  }

  #enqueue(line: Line): void {
    const lines = line.begun.length > 0 || line.isSlow ? this.#goingOn : this.#beginning
    line.isWaiting = line.begun.length + line.new.length > 0
    if (line.isWaiting) lines.push(line.caller, line)
  }

  readonly #next = (): void => {
    this.#turn = this.#turnNow()
    const now = performance.now()
    try {
      // However many calls begin, what is long comes to its end.
      if (now >= this.#restsUntil) this.#doLong(now)
      this.#endsAt = performance.now() + SLICE
      let isMore = true
      while (isMore && performance.now() < this.#endsAt) isMore = this.#do(this.#beginning)
    } finally {
      this.#isScheduled = false
      this.#schedule()
    }
  }

  #doLong(begin: number): void {
    let now = begin
    while (now < begin + LONG_SLICE && this.#do(this.#goingOn)) now = performance.now()
    const took = now - begin
    // The calls of others need several turns, which must not all be as long as this one.
    if (took > SLICE) this.#restsUntil = now + took
  }

  /** Does one piece of work of whose turn it is; false where nothing waits. */
  #do(lines: Rounds<Line>): boolean {
    const line = lines.shift()
    if (line === undefined) return false
    const work = line.begun.shift() ?? line.new.shift()
    const begin = performance.now()
    try {
      work?.()
    } finally {
      line.isSlow = performance.now() - begin > LONG_WORK
      this.#enqueue(line)
    }
    return true
  }
}

/** A queue of queues: one of each group in turn, so that a group gets no more for having many members. */
export class Rounds<T> {
  /** Whose turn is next comes first; a group without members has no entry. */
  readonly #groups = new Map<string, T[]>()

  get isEmpty(): boolean {
    return this.#groups.size === 0
  }

  /** Adds a member of a group behind the others of it. */
  push(group: string, member: T): void {
    const members = this.#groups.get(group)
    if (members === undefined) this.#groups.set(group, [member])
    else members.push(member)
  }

  /** Takes the first member of the group whose turn it is; undefined where there is none. */
  shift(): T | undefined {
    const [first] = this.#groups
    if (first === undefined) return undefined
    const [group, members] = first
    const member = members.shift()
    // Its next one comes behind those of all other groups.
    this.#groups.delete(group)
    if (members.length > 0) this.#groups.set(group, members)
    return member
  }
}
