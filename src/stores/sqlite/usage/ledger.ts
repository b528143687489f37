/** The ledger: the journal in front, the tables behind, and the fold that carries one into the other. */
import { setImmediate as turn } from 'node:timers/promises'
import { explainFailure } from '../error.ts'
import { Charging } from './charging.ts'
import type { UsageDatabase } from './database.ts'
import { Days } from './days.ts'
import type { SideWork, UsageEvents } from './events.ts'
import { withPendingTotals } from './pending.ts'
import { readTotals } from './read.ts'
import { dayRound, foldRound, rollUpRound } from './round.ts'
import { unfoldedNow } from './journals/unfolded.ts'
import type { Ledger as LedgerPort, Totals } from '../../../ports/ledger.ts'
import type { Window } from '../../../limits/window.ts'

/** How often counters go into the tables, in milliseconds. */
const FOLD_EVERY = 1000
/** Milliseconds that folding holds the thread at a time, without the commit: as long again where pages have to be read. */
const SLICE = 2

/** Owns journal.db while the gateway serves. */
export class Ledger implements Pick<LedgerPort, 'totals'> {
  readonly #database: UsageDatabase
  readonly #days: Days
  /** The journal in front. */
  readonly charging: Charging
  readonly #events: UsageEvents
  readonly #timer: NodeJS.Timeout
  #folding: Promise<void> | null = null
  #isClosed = false

  constructor(database: UsageDatabase, events: UsageEvents) {
    this.#database = database
    this.#days = new Days(database.database)
    this.#events = events
    this.charging = new Charging(database, events)
    try {
      this.#recover()
    } catch (error) {
      throw explainFailure(database.file, error)
    }
    this.#timer = setInterval(() => {
      this.#lookAtFiles()
      if (this.#folding === null) void this.#foldSoon()
    }, FOLD_EVERY)
    this.#timer.unref()
  }

  /** Why charges cannot be recorded now; null while they can. */
  get failure(): Error | null {
    return this.charging.failure
  }

  /** Why none can be recorded until a restart: the file is damaged, or no longer where it was. Null while that is not so. */
  get refused(): Error | null {
    return this.#database.refused
  }

  /** Carries everything recorded so far into the tables, at once. Returns whether that worked. */
  fold(): boolean {
    this.charging.writer.flush()
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
    return foldRound(this.#database, this.charging.counters, ms)
  }

  /** Carries everything recorded so far into the tables, between calls. Rejects where that does not work now. */
  async folded(): Promise<void> {
    this.charging.writer.flush()
    const { last } = this.charging.counters
    // A round has what was there when it began.
    for (let rounds = 0; rounds < 2 && this.#holds(last); rounds += 1)
      await (this.#folding ?? this.#foldSoon())
    if (this.#holds(last) || this.charging.writer.isBusy)
      throw this.failure ?? new Error('usage cannot be brought into its tables now')
  }

  totals(accountId: string, endpointIds?: readonly string[]): ReadonlyMap<string, Totals> {
    this.charging.writer.flush()
    const totals = readTotals(this.#database.database, 'totals', accountId, endpointIds)
    return withPendingTotals(totals, this.charging.counters.of(accountId))
  }

  /**
   * Requests that an account, or one of its endpoints alone, has used in a window; null when that cannot be read now. `switched` when the account had
   * windows of another kind before.
   */
  usedInWindow(account: string, window: Window, switched: boolean, endpoint?: string): number | null {
    // Most accounts that are asked about have nothing under way, and when all come at once, as behind a start, a commit each is too much.
    if (this.charging.counters.of(account).length > 0 || this.charging.writer.isGivingBack)
      this.charging.writer.flush()
    // What waits for another process's lock is charged, and not yet in the counters.
    if (this.charging.writer.isBusy) return null
    try {
      const pending = this.charging.counters.of(account)
      return endpoint === undefined
        ? this.#database.readUsed(account, window, switched, pending)
        : this.#database.readUsedBy(endpoint, window, pending)
    } catch (error) {
      this.#delayed('quota', error)
      return null
    }
  }

  /** Folds for the last time and closes the file. */
  close(): void {
    clearInterval(this.#timer)
    this.#isClosed = true
    this.fold()
    this.#database.close()
  }

  /** Whether a counter up to a place is still to be folded. */
  #holds(place: number): boolean {
    return (this.charging.counters.contents()[0]?.place ?? Infinity) <= place
  }

  #foldSoon(): Promise<void> {
    this.#folding = this.#foldBetweenCalls().finally(() => {
      this.#folding = null
    })
    return this.#folding
  }

  /** Folds, and does what else is to be done now and then, a slice in each turn of the loop. */
  async #foldBetweenCalls(): Promise<void> {
    try {
      if (this.charging.counters.contents().length > 0) await this.#between(this.foldInSlices(SLICE))
      await this.#between(rollUpRound(this.#database, Date.now(), SLICE))
      await this.#between(dayRound(this.#days, Date.now(), SLICE))
    } catch (error) {
      this.#delayed('fold', error)
    }
    try {
      if (!this.#isClosed) this.#database.sync()
    } catch (error) {
      this.#delayed('sync', error)
    }
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
    const { counters, lastPlace } = unfoldedNow(this.#database.database)
    this.charging.counters.recover(counters, lastPlace)
    this.fold()
  }
}
