/**
 * The journal: a call's charge is on disk before its reply leaves (design, "Metering"). One record holds the charges of all calls
 * that were admitted within a few milliseconds, or until one of their replies waits for it; the ledger takes them over later, and
 * after a crash at the next start.
 */
import { isBusy } from '../error.ts'
import { Group } from './group.ts'
import type { Cell, Cells } from './cells.ts'
import type { UsageDatabase } from './database.ts'
import type { UsageEvents } from './events.ts'

/** Milliseconds for which charges wait for others at most, while no reply waits for them, and once one does. */
const GROUP_MS = 10
const HURRY_MS = 1

/** How long a journal waits after a commit that failed before it tries another, in milliseconds. */
const RETRY_AFTER = 500
/** How long a commit waits for another process's lock, and how long between two looks: an operator's checkpoint takes one for a moment. */
const BUSY_FOR = 1_000
const BUSY_RETRY = 5

/** Groups charges and commits them. */
export class JournalWriter {
  readonly #database: UsageDatabase
  readonly #cells: Cells
  readonly #events: UsageEvents
  #group: Group
  /** Made once and set anew for each group; one that fires for a group that is over finds nothing to do. */
  #timer: NodeJS.Timeout | null = null
  #hurried = false
  /** When a reply began to wait, and the charges that had come by the last look. */
  #hurriedAt = 0
  #seen = 0
  /** Why the last commit failed; null while commits work. */
  #failure: Error | null = null
  /** When a commit began to wait for another process's lock. */
  #busySince: number | null = null
  #retry: NodeJS.Timeout | undefined

  constructor(database: UsageDatabase, cells: Cells, events: UsageEvents) {
    this.#database = database
    this.#cells = cells
    this.#events = events
    this.#group = new Group(this.#hurry)
  }

  /** Why charges cannot be recorded, from a commit that failed until one works; null while they can. */
  get failure(): Error | null {
    return this.#database.refused ?? this.#failure
  }

  /** Whether a commit waits for another process's lock. */
  get isBusy(): boolean {
    return this.#busySince !== null
  }

  /** Adds one call's charge to the group that is open. */
  charge(cell: Cell, requests: number): Group {
    const group = this.#begun()
    group.charge(cell, requests)
    return group
  }

  /** Takes a charge back that was committed, or is about to be. */
  giveBack(cell: Cell, calls: number, requests: number): Group {
    const group = this.#begun()
    group.giveBack(cell, calls, requests)
    return group
  }

  /** Whether something is to be taken back with the next commit. */
  get isGivingBack(): boolean {
    return this.#group.givenBack.length > 0
  }

  /** Whether nothing waits for a commit. */
  get isIdle(): boolean {
    return this.#group.isEmpty
  }

  /** Commits what waits, now; behind a commit that failed also when nothing does, to see whether one works. */
  flush(): void {
    const group = this.#group
    if (group.isEmpty && this.#failure === null) return
    const begin = performance.now()
    for (const cell of group.charged) this.#cells.touchAgain(cell)
    for (const { cell } of group.givenBack) this.#cells.touchAgain(cell)
    try {
      this.#database.append(group.record())
    } catch (error) {
      group.forgetRecord()
      if (isBusy(error) && this.#mayWait()) return
      this.#fail(error as Error)
      return
    }
    this.#group = new Group(this.#hurry)
    for (const cell of group.charged) {
      count(cell, cell.waitingCalls, cell.waitingRequests)
      cell.waitingCalls = cell.waitingRequests = 0
    }
    for (const { cell, calls, requests } of group.givenBack) count(cell, -calls, -requests)
    const isRecovered = this.#failure !== null
    this.#failure = null
    this.#busySince = null
    group.close('committed')
    this.#events.committed((performance.now() - begin) / 1000)
    if (isRecovered) this.#events.recovered()
  }

  /** Whether the commit may wait for another process's lock: then it is tried again in a moment, and calls wait with it. */
  #mayWait(): boolean {
    if (this.#failure !== null) return false
    const now = performance.now()
    this.#busySince ??= now
    if (now - this.#busySince > BUSY_FOR) return false
    this.#again(BUSY_RETRY)
    return true
  }

  /** Tries a commit again in a moment, until it works: by a timer and not by the clock, which may go back meanwhile. */
  #again(ms: number): void {
    clearTimeout(this.#retry)
    this.#retry = setTimeout(() => {
      if (this.isBusy || this.#failure !== null) this.flush()
    }, ms)
    // A commit that calls wait for keeps the process, a file that takes none does not.
    if (!this.isBusy) this.#retry.unref()
  }

  #fail(error: Error): void {
    const group = this.#group
    this.#group = new Group(this.#hurry)
    this.#busySince = null
    for (const cell of group.charged) cell.waitingCalls = cell.waitingRequests = 0
    group.close('failed')
    // What is given back has a time when it can be; in a file that takes nothing any more there is none, and why was told then.
    if (this.#database.refused !== null) return
    for (const { cell, calls, requests } of group.givenBack) this.#group.giveBack(cell, calls, requests)
    this.#failure = error
    this.#events.failed(error)
    this.#again(RETRY_AFTER)
  }

  /** The open group. While the upstreams work there is time for more calls to share its commit. */
  #begun(): Group {
    if (this.#group.isEmpty) {
      if (this.#timer === null) this.#timer = setTimeout(this.#flushUnlessTrying, GROUP_MS)
      else this.#timer.refresh()
    }
    return this.#group
  }

  /** A reply waits: the commit comes with the first turn of the loop that brings no further charge. */
  readonly #hurry = (): void => {
    if (this.#hurried) return
    this.#hurried = true
    this.#hurriedAt = performance.now()
    this.#look()
  }

  #look(): void {
    this.#seen = this.#group.charges
    setImmediate(this.#afterTurn)
  }

  readonly #afterTurn = (): void => {
    if (this.#group.charges > this.#seen && performance.now() - this.#hurriedAt < HURRY_MS) {
      this.#look()
      return
    }
    this.#hurried = false
    this.#flushUnlessTrying()
  }

  readonly #flushUnlessTrying = (): void => {
    if (this.#database.refused !== null || (this.#failure === null && !this.isBusy)) this.flush()
  }
}

function count(cell: Cell, calls: number, requests: number): void {
  cell.calls += calls
  cell.requests += requests
}
