/**
 * The journal: a call's charge is on disk before its reply leaves (design, "Metering"). One record holds the charges of all calls
 * that were admitted within a few milliseconds, or until one of their replies waits for it; the ledger takes them over later, and
 * after a crash at the next start.
 */
import type { Cell } from './cell.ts'
import type { Cells } from './cells.ts'
import type { UsageDatabase } from './database.ts'
import type { UsageEvents } from './events.ts'
import { Group } from './group.ts'

/** Milliseconds for which charges wait for others at most, while no reply waits for them, and once one does. */
const GROUP_MS = 10
const HURRY_MS = 1

/** How long a failed journal waits before it tries a commit again, in milliseconds. */
const RETRY_AFTER = 500

/** Groups charges and commits them. */
export class Journal {
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
  #brokenUntil = 0

  constructor(database: UsageDatabase, cells: Cells, events: UsageEvents) {
    this.#database = database
    this.#cells = cells
    this.#events = events
    this.#group = new Group(this.#hurry)
  }

  /** Whether charges can be recorded; false for a moment after a commit failed. */
  available(now: number): boolean {
    return now >= this.#brokenUntil
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

  /** Commits what waits, now. */
  flush(): void {
    const group = this.#group
    if (group.isEmpty) return
    this.#group = new Group(this.#hurry)
    const begin = performance.now()
    for (const cell of group.charged) this.#cells.touchAgain(cell)
    for (const { cell } of group.givenBack) this.#cells.touchAgain(cell)
    try {
      this.#database.append(group.record())
    } catch (error) {
      this.#fail(group, error as Error)
      return
    }
    for (const cell of group.charged) {
      count(cell, cell.waitingCalls, cell.waitingRequests)
      cell.waitingCalls = cell.waitingRequests = 0
    }
    for (const { cell, calls, requests } of group.givenBack) count(cell, -calls, -requests)
    this.#brokenUntil = 0
    group.close('committed')
    this.#events.committed((performance.now() - begin) / 1000)
  }

  #fail(group: Group, error: Error): void {
    this.#brokenUntil = Date.now() + RETRY_AFTER
    group.forgetRecord()
    for (const cell of group.charged) cell.waitingCalls = cell.waitingRequests = 0
    for (const { cell, calls, requests } of group.givenBack) this.#group.giveBack(cell, calls, requests)
    group.close('failed')
    this.#events.failed(error)
    setTimeout(() => {
      // Not by the clock, which may have gone back meanwhile.
      this.#brokenUntil = 0
      this.flush()
    }, RETRY_AFTER).unref()
  }

  /** The open group. While the upstreams work there is time for more calls to share its commit. */
  #begun(): Group {
    if (this.#group.isEmpty) {
      if (this.#timer === null) this.#timer = setTimeout(this.#flushIfAvailable, GROUP_MS)
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
    this.#flushIfAvailable()
  }

  readonly #flushIfAvailable = (): void => {
    if (this.available(Date.now())) this.flush()
  }
}

function count(cell: Cell, calls: number, requests: number): void {
  cell.calls += calls
  cell.requests += requests
}
