/** The ledger: the journal in front, the tables behind, and the fold that carries one into the other. */
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises'
import { explainFailure } from '../error.ts'
import { newCounter, UsageCounters } from './counters.ts'
import type { UsageCounter, Owner } from './counters.ts'
import type { UsageDatabase } from './database.ts'
import type { SideWork, UsageEvents } from './events.ts'
import type { CommitBatch } from './commit-batch.ts'
import { withPendingTotals } from './pending.ts'
import { JournalWriter } from './journal.ts'
import { readTotals } from './read.ts'
import { foldRound, rollUpRound } from './round.ts'
import type { Ledger as LedgerPort, Totals } from '../../../ports/ledger.ts'
import { hourAt } from '../../../limits/account-meter.ts'
import type { Window } from '../../../limits/account-meter.ts'
import type { Charge, Journal, Settlement } from '../../../ports/journal.ts'
import type { Payer } from '../../../ports/limits.ts'

/** How often counters go into the tables, in milliseconds. */
const FOLD_EVERY = 1000
/** Milliseconds that folding holds the thread at a time, without the commit: as long again where pages have to be read. */
const SLICE = 2
/** Looks at a journal that does not come to rest: a disk that takes nothing. */
const MOST_LOOKS = 10

/** Owns journal.db while the gateway serves. */
export class Ledger implements Pick<LedgerPort, 'totals'> {
  readonly #database: UsageDatabase
  readonly #counters = new UsageCounters()
  readonly #journal: JournalWriter
  readonly #events: UsageEvents
  readonly #timer: NodeJS.Timeout
  #isFolding = false
  #isClosed = false

  constructor(database: UsageDatabase, events: UsageEvents) {
    this.#database = database
    this.#events = events
    this.#journal = new JournalWriter(database, this.#counters, events)
    try {
      this.#recover()
    } catch (error) {
      throw explainFailure(database.file, error)
    }
    this.#timer = setInterval(() => {
      this.#lookAtFiles()
      if (!this.#isFolding) void this.#foldBetweenCalls()
    }, FOLD_EVERY)
    this.#timer.unref()
  }

  /** Why charges cannot be recorded now; null while they can. */
  get failure(): Error | null {
    return this.#journal.failure
  }

  /** Where the usage of an owner's method goes now; `window` is the start of the quota window, 0 without one. */
  counter(owner: Owner, method: string, now: number, window: number): UsageCounter {
    return this.#counters.touch(owner, method, hourAt(now), window)
  }

  /** The same for a call that was refused. */
  refusedCounter(owner: Owner, method: string, now: number): UsageCounter {
    return this.#counters.touchRefused(owner, method, hourAt(now))
  }

  touch(counter: UsageCounter): void {
    this.#counters.touchAgain(counter)
  }

  charge(counter: UsageCounter, requests: number): CommitBatch {
    return this.#journal.charge(counter, requests)
  }

  giveBack(counter: UsageCounter, calls: number, requests: number): CommitBatch {
    return this.#journal.giveBack(counter, calls, requests)
  }

  /** Carries everything recorded so far into the tables, at once. Returns whether that worked. */
  fold(): boolean {
    this.#journal.flush()
    try {
      const round = this.foldInSlices(Infinity)
      while (round.next().done !== true);
      return true
    } catch (error) {
      this.#delayed('fold', error)
      return false
    }
  }

  /** The same in slices of about `ms` milliseconds, for what is there now; anything may happen between two of them. */
  foldInSlices(ms: number): Generator<void, void> {
    return foldRound(this.#database, this.#counters, ms)
  }

  totals(accountId: string, endpointIds?: readonly string[]): ReadonlyMap<string, Totals> {
    this.#journal.flush()
    const totals = readTotals(this.#database.database, 'totals', accountId, endpointIds)
    return withPendingTotals(totals, this.#counters.of(accountId))
  }

  /** Requests used in a quota window, null when that cannot be read now; `switched` when the account had windows of another kind before. */
  usedInWindow(account: string, window: Window, switched: boolean): number | null {
    // Most accounts that are asked about have nothing under way, and when all come at once, as behind a start, a commit each is too much.
    if (this.#counters.of(account).length > 0 || this.#journal.isGivingBack) this.#journal.flush()
    // What waits for another process's lock is charged, and not yet in the counters.
    if (this.#journal.isBusy) return null
    try {
      return this.#database.readUsed(account, window, switched, this.#counters.of(account))
    } catch (error) {
      this.#delayed('quota', error)
      return null
    }
  }

  /**
   * Resolves when no charge waits for a commit, and none is given back any more by those who waited: a notification whose socket has
   * closed meanwhile is.
   */
  async settled(): Promise<void> {
    for (let look = 0; look < MOST_LOOKS; look += 1) {
      this.#journal.flush()
      await turn()
      if (this.#journal.isIdle) return
      while (this.#journal.isBusy) await sleep(1)
    }
  }

  /** Folds for the last time and closes the file. */
  close(): void {
    clearInterval(this.#timer)
    this.#isClosed = true
    this.fold()
    this.#database.close()
  }

  /** Folds, and does what else is to be done now and then, a slice in each turn of the loop. */
  async #foldBetweenCalls(): Promise<void> {
    this.#isFolding = true
    const isIdle = this.#counters.contents().length === 0
    try {
      if (!isIdle) await this.#between(this.foldInSlices(SLICE))
      await this.#between(rollUpRound(this.#database, Date.now(), SLICE))
    } catch (error) {
      this.#delayed('fold', error)
    }
    try {
      if (!isIdle && !this.#isClosed) this.#database.sync()
    } catch (error) {
      this.#delayed('sync', error)
    }
    this.#isFolding = false
  }

  /** What is recorded in a file that nobody finds any more would be lost: calls are refused instead. */
  #lookAtFiles(): void {
    if (this.#database.refused !== null) return
    const lost = this.#database.lost()
    if (lost === null) return
    this.#database.refuse(lost)
    this.#events.lost(lost)
  }

  /** Tells of work that is done again later, unless it was told that nothing can be written. */
  #delayed(work: SideWork, error: unknown): void {
    if (this.failure === null) this.#events.delayed(work, error as Error)
  }

  async #between(round: Generator<void, void>): Promise<void> {
    while (!this.#isClosed && round.next().done !== true) await turn()
  }

  /** After a crash the journal holds what was acknowledged and not folded. */
  #recover(): void {
    const { charges, lastPlace } = this.#database.unfolded()
    const counters = charges.map(({ place, calls, requests, ...key }) => ({
      ...newCounter(key),
      place,
      calls,
      requests,
    }))
    this.#counters.recover(counters, lastPlace)
    this.fold()
  }
}

/** Charges go into the batch that is open, and count for the counter of their endpoint, method and hour. */
export class UsageJournal implements Journal {
  readonly #ledger: Ledger

  constructor(ledger: Ledger) {
    this.#ledger = ledger
  }

  get failure(): Error | null {
    return this.#ledger.failure
  }

  charge(payer: Payer, method: string, units: number, period: number, now: number): CounterCharge {
    const counter = this.#ledger.counter(payer, method, now, period)
    return new CounterCharge(this.#ledger, counter, units, this.#ledger.charge(counter, units))
  }

  refused(payer: Payer, method: string, reason: string, now: number): void {
    const counter = this.#ledger.refusedCounter(payer, method, now)
    counter.refusals += 1
    counter.reasons ??= new Map()
    counter.reasons.set(reason, (counter.reasons.get(reason) ?? 0) + 1)
  }
}
/** One call's part of a counter and of a batch. */
export class CounterCharge implements Charge {
  readonly #ledger: Ledger
  readonly counter: UsageCounter
  readonly units: number
  readonly batch: CommitBatch

  constructor(ledger: Ledger, counter: UsageCounter, units: number, batch: CommitBatch) {
    this.#ledger = ledger
    this.counter = counter
    this.units = units
    this.batch = batch
  }

  commit(): boolean | Promise<boolean> {
    return this.batch.settled()
  }

  get isLost(): boolean {
    return this.batch.state === 'failed'
  }

  async giveBack(): Promise<void> {
    // There is nothing to take back of what was never recorded.
    if (!this.isLost) await this.#ledger.giveBack(this.counter, 1, this.units).settled()
  }

  settle({ error, bytesOut, upstreamMs }: Settlement): void {
    const counter = this.counter
    if (error) counter.errors += 1
    counter.bytesOut += bytesOut
    counter.upstreamMs += upstreamMs
    this.#ledger.touch(counter)
  }
}
