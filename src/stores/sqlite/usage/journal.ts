/**
 * The journal: a call's charge is on disk before its reply leaves (design, "Metering"). One record holds the charges of all calls
 * that were admitted within a few milliseconds, or until one of their replies waits for it; the ledger takes them over later, and
 * after a crash at the next start.
 */
import { isBusy } from '../error.ts'
import { CommitBatch } from './commit-batch.ts'
import type { UsageCounter, UsageCounters } from './counters.ts'
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
  readonly #counters: UsageCounters
  readonly #events: UsageEvents
  #batch: CommitBatch
  /** Made once and set anew for each batch; one that fires for a batch that is over finds nothing to do. */
  #timer: NodeJS.Timeout | null = null
  #hurried = false
  /** When a reply began to wait, and the charges that had come by the last look. */
  #hurriedAt = 0
  #seen = 0
  /** Why the last commit failed; null while commits work. */
  #failure: Error | null = null
  /** Why nothing is committed for now; null while it may be. */
  #held: Error | null = null
  /** When a commit began to wait for another process's lock. */
  #busySince: number | null = null
  #retry: NodeJS.Timeout | undefined

  constructor(database: UsageDatabase, counters: UsageCounters, events: UsageEvents) {
    this.#database = database
    this.#counters = counters
    this.#events = events
    this.#batch = new CommitBatch(this.#hurry)
  }

  /** Why charges cannot be recorded, from a commit that failed until one works; null while they can. */
  get failure(): Error | null {
    return this.#database.refused ?? this.#failure
  }

  /** Until it is called with null each commit fails with `reason`. */
  hold(reason: Error | null): void {
    this.#held = reason
    // Not with the next call: from a failure on none is tried.
    if (reason !== null && this.#failure === null) this.#fail(reason)
  }

  /** Whether a commit waits for another process's lock. */
  get isBusy(): boolean {
    return this.#busySince !== null
  }

  /** Adds one call's charge to the batch that is open. */
  charge(counter: UsageCounter, requests: number): CommitBatch {
    const batch = this.#begun()
    batch.charge(counter, requests)
    return batch
  }

  /** Takes a charge back that was committed, or is about to be. */
  giveBack(counter: UsageCounter, calls: number, requests: number): CommitBatch {
    const batch = this.#begun()
    batch.giveBack(counter, calls, requests)
    return batch
  }

  /** Whether something is to be taken back with the next commit. */
  get isGivingBack(): boolean {
    return this.#batch.givenBack.length > 0
  }

  /** Whether nothing waits for a commit. */
  get isIdle(): boolean {
    return this.#batch.isEmpty
  }

  /** Commits what waits, now; behind a commit that failed also when nothing does, to see whether one works. */
  flush(): void {
    const batch = this.#batch
    if (batch.isEmpty && this.#failure === null) return
    const begin = performance.now()
    for (const counter of batch.charged) this.#counters.touchAgain(counter)
    for (const { counter } of batch.givenBack) this.#counters.touchAgain(counter)
    try {
      if (this.#held !== null) throw this.#held
      this.#database.append(batch.record())
    } catch (error) {
      batch.forgetRecord()
      if (isBusy(error) && this.#mayWait()) return
      this.#fail(error as Error)
      return
    }
    this.#batch = new CommitBatch(this.#hurry)
    for (const counter of batch.charged) {
      count(counter, counter.waitingCalls, counter.waitingRequests)
      counter.waitingCalls = counter.waitingRequests = 0
    }
    for (const { counter, calls, requests } of batch.givenBack) count(counter, -calls, -requests)
    const isRecovered = this.#failure !== null
    this.#failure = null
    this.#busySince = null
    batch.close('committed')
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
    const batch = this.#batch
    this.#batch = new CommitBatch(this.#hurry)
    this.#busySince = null
    for (const counter of batch.charged) counter.waitingCalls = counter.waitingRequests = 0
    batch.close('failed')
    // What is given back has a time when it can be; in a file that takes nothing any more there is none, and why was told then.
    if (this.#database.refused !== null) return
    for (const { counter, calls, requests } of batch.givenBack) this.#batch.giveBack(counter, calls, requests)
    this.#failure = error
    this.#events.failed(error)
    this.#again(RETRY_AFTER)
  }

  /** The open batch. While the upstreams work there is time for more calls to share its commit. */
  #begun(): CommitBatch {
    if (this.#batch.isEmpty) {
      if (this.#timer === null) this.#timer = setTimeout(this.#flushUnlessTrying, GROUP_MS)
      else this.#timer.refresh()
    }
    return this.#batch
  }

  /** A reply waits: the commit comes with the first turn of the loop that brings no further charge. */
  readonly #hurry = (): void => {
    if (this.#hurried) return
    this.#hurried = true
    this.#hurriedAt = performance.now()
    this.#look()
  }

  #look(): void {
    this.#seen = this.#batch.charges
    setImmediate(this.#afterTurn)
  }

  readonly #afterTurn = (): void => {
    if (this.#batch.charges > this.#seen && performance.now() - this.#hurriedAt < HURRY_MS) {
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

function count(counter: UsageCounter, calls: number, requests: number): void {
  counter.calls += calls
  counter.requests += requests
}
