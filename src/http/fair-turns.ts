/**
 * Begins calls in turns of the event loop: a few reads can bring a thousand, and whoever comes behind them would wait for all. What does
 * not fit into one turn begins in the next ones, caller by caller and connection by connection.
 */
import { PUBLIC } from '../limits/fair-share.ts'

/** Milliseconds of beginning calls in one turn of the loop, and of what is long: a call of somebody else needs several turns. */
const SLICE = 1.5
const LONG_SLICE = 1

/**
 * Milliseconds in which turns only accept connections, where many come, and then those in which calls begin as well. Node.js accepts one a turn:
 * where each turn was as long as a slice, somebody's new connection waited half a second behind 250 others.
 */
const ACCEPTING = 10

/** Milliseconds of work that are long: a call takes a hundredth of it. */
const LONG_WORK = 0.75
/** Bytes of a message from which on it is long: 5 MiB take 30 to 70 ms to scan. */
const LONG_BYTES = 64 * 1024

type Work = () => void

/** What waits of one connection: what was begun goes on before anything else of it begins. */
interface Line {
  /** Whose connection it is, as it was last said: an account, or an address (`holderOf`). */
  caller: string
  readonly begun: Work[]
  readonly new: Work[]
  isWaiting: boolean
  /** Whether its last piece of work took long: the next one is likely to, and waits with what is long. */
  isSlow: boolean
}

/**
 * Does the work of many connections, in each one's own order; what can begin comes before what is long. Each account has a turn after every
 * other one, however many connections it has, and all strangers together have one: 300 connections of strangers made an account's long message
 * wait for 300 of theirs.
 */
export class FairTurns {
  /** Tells turns of the loop apart: a number that changes with each, or at least with each in which anything was answered. */
  readonly #turnNow: () => number
  readonly #lineOf = new WeakMap<object, Line>()
  /** Connections with something that can begin, and those with something long that goes on. */
  readonly #beginning = new LinesInTurn()
  readonly #goingOn = new LinesInTurn()
  /** Whether a turn is coming; `#timer` while only what is long waits, and rests. */
  #isScheduled = false
  #timer: NodeJS.Timeout | null = null
  #restsUntil = 0
  #turn = -1
  /** When this turn has done enough. */
  #endsAt = 0
  /** Whether this turn has accepted a connection, and until when such turns do nothing else. */
  #hasAccepted = false
  #acceptsUntil = 0

  constructor(turnNow: () => number) {
    this.#turnNow = turnNow
  }

  /** A connection was accepted: others may wait behind it. */
  accepted(): void {
    this.#hasAccepted = true
  }

  /** Begins with a request of which only its head is known; `whose` gives its caller (`holderOf`). Returns whether it has begun. */
  admit(connection: object, whose: () => string, work: Work): boolean {
    if (this.#mayBegin()) {
      work()
      return true
    }
    const line = this.#line(connection, whose())
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
    if (line.isWaiting) lines.push(line)
  }

  readonly #next = (): void => {
    this.#turn = this.#turnNow()
    const now = performance.now()
    if (this.#leavesToAccepting(now)) {
      setImmediate(this.#next)
      return
    }
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

  /** Whether this turn is left to accepting connections. */
  #leavesToAccepting(now: number): boolean {
    const hasAccepted = this.#hasAccepted
    this.#hasAccepted = false
    if (!hasAccepted) return false
    if (now >= this.#acceptsUntil + ACCEPTING) this.#acceptsUntil = now + ACCEPTING
    return now < this.#acceptsUntil
  }

  #doLong(begin: number): void {
    let now = begin
    while (now < begin + LONG_SLICE && this.#do(this.#goingOn)) now = performance.now()
    const took = now - begin
    // The calls of others need several turns, which must not all be as long as this one.
    if (took > SLICE) this.#restsUntil = now + took
  }

  /** Does one piece of work of whose turn it is; false where nothing waits. */
  #do(lines: LinesInTurn): boolean {
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

/** Lines in the order of their turns. */
class LinesInTurn {
  /** Null is a turn of the public route. */
  readonly #callers = new Rounds<Line | null>()
  /** By address. */
  readonly #public = new Rounds<Line>()

  get isEmpty(): boolean {
    return this.#callers.isEmpty
  }

  push(line: Line): void {
    const { caller } = line
    if (caller.startsWith(PUBLIC)) {
      this.#public.push(caller, line)
      this.#callers.push(PUBLIC, null)
    } else this.#callers.push(caller, line)
  }

  shift(): Line | undefined {
    const line = this.#callers.shift()
    return line === null ? this.#public.shift() : line
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
