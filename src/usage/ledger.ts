/** The ledger: the journal in front, the tables behind, and the fold that carries one into the other. */
import { setImmediate as turn } from 'node:timers/promises'
import { emptyCell } from './cell.ts'
import type { Cell } from './cell.ts'
import { Cells } from './cells.ts'
import type { Owner } from './cells.ts'
import type { UsageDatabase } from './database.ts'
import type { Group } from './group.ts'
import { withHeldTotals } from './held.ts'
import { Journal } from './journal.ts'
import type { JournalEvents } from './journal.ts'
import { readTotals } from './read.ts'
import { rollUp } from './roll-up.ts'
import type { ReadLog } from './sums/threads.ts'
import type { Totals, TotalsReader } from './types.ts'
import { hourAt } from './window.ts'
import type { Window } from './window.ts'

/** How often cells go into the tables, in milliseconds. */
const FOLD_EVERY = 1000
/** Folds between two checkpoints: a checkpoint waits for the disk, so the hundredth call should not meet one. */
const CHECKPOINT_EVERY = 5
/** Pages of the write-ahead log, of 4 KiB, past which nobody may read until it is written back: 128 MiB. */
const LONG = 32_768
/** Fold earlier when this many cells wait, so that one fold stays short. */
const FOLD_AT = 2000
/** Looks at a journal that does not come to rest: a disk that takes nothing. */
const MOST_LOOKS = 10

/** Owns journal.db while the gateway serves. */
export class Ledger implements TotalsReader, ReadLog {
  readonly #database: UsageDatabase
  readonly #cells = new Cells()
  readonly #journal: Journal
  readonly #events: JournalEvents
  readonly #timer: NodeJS.Timeout
  #folds = 0
  /** Pages of the write-ahead log at the last checkpoint. */
  #pages = 0

  constructor(database: UsageDatabase, events: JournalEvents) {
    this.#database = database
    this.#events = events
    this.#journal = new Journal(database, this.#cells, events)
    this.#recover()
    this.#timer = setInterval(() => {
      if (this.fold()) this.#rollUp()
    }, FOLD_EVERY)
    this.#timer.unref()
  }

  /** Whether charges can be recorded now. */
  available(now: number): boolean {
    return this.#journal.available(now)
  }

  /** Where the usage of an owner's method goes now; `window` is the start of the quota window, 0 without one. */
  cell(owner: Owner, method: string, now: number, window: number): Cell {
    // Before the cell is found: behind a fold it would not be among those that wait for the next.
    if (this.#cells.size >= FOLD_AT) this.fold()
    return this.#cells.touch(owner, method, hourAt(now), window)
  }

  /** The same for a call that was refused. */
  refusedCell(owner: Owner, method: string, now: number, window: number): Cell {
    if (this.#cells.size >= FOLD_AT) this.fold()
    return this.#cells.touchRefused(owner, method, hourAt(now), window)
  }

  touch(cell: Cell): void {
    this.#cells.touchAgain(cell)
  }

  charge(cell: Cell, requests: number): Group {
    return this.#journal.charge(cell, requests)
  }

  giveBack(cell: Cell, calls: number, requests: number): Group {
    return this.#journal.giveBack(cell, calls, requests)
  }

  /** Carries everything recorded so far into the tables. Returns whether that worked. */
  fold(): boolean {
    this.#journal.flush()
    const cells = this.#cells.contents()
    if (cells.length === 0) return true
    try {
      this.#database.fold(cells)
      this.#cells.clear()
      this.#folds += 1
      if (this.#folds % CHECKPOINT_EVERY === 0) this.#pages = this.#database.checkpoint()
      else this.#database.sync()
      return true
    } catch (error) {
      this.#events.failed(error as Error)
      return false
    }
  }

  totals(accountId: string, endpointIds?: readonly string[]): ReadonlyMap<string, Totals> {
    this.#journal.flush()
    const totals = readTotals(this.#database.database, 'totals', accountId, endpointIds)
    return withHeldTotals(totals, this.#cells.of(accountId))
  }

  /** Whether readers have kept the write-ahead log from starting anew for so long that they have to pause. */
  isLong(): boolean {
    return this.#pages > LONG
  }

  /** Writes all of the log back: the next commit starts it anew. */
  shorten(): void {
    this.#database.checkpoint()
    this.#pages = 0
  }

  /** Requests used in a quota window; `switched` when the account had windows of another kind before. */
  usedInWindow(account: string, window: Window, switched: boolean): number {
    // Most accounts that are asked about have nothing under way, and when all come at once, as behind a start, a commit each is too much.
    if (this.#cells.of(account).length > 0 || this.#journal.isGivingBack) this.#journal.flush()
    return this.#database.readUsed(account, window, switched, this.#cells.of(account))
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
    }
  }

  /** Folds for the last time and closes the file. */
  close(): void {
    clearInterval(this.#timer)
    this.fold()
    this.#database.close()
  }

  /** A few of the oldest hours become days, as long as there are any. */
  #rollUp(): void {
    try {
      rollUp(this.#database.database, Date.now())
    } catch (error) {
      this.#events.failed(error as Error)
    }
  }

  /** After a crash the journal holds what was acknowledged and not folded. */
  #recover(): void {
    const { charges, lastPlace } = this.#database.unfolded()
    const cells = charges.map(({ calls, requests, ...key }) => ({ ...emptyCell(key), calls, requests }))
    this.#cells.recover(cells, lastPlace)
    this.fold()
  }
}
