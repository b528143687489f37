/** journal.db: the journal and the ledger, written by one process only. */
import { closeSync, fdatasync, openSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import type { DatabaseSyncInstance, StatementSyncInstance } from '@photostructure/sqlite'
import type { Cell, CellKey } from './cell.ts'
import { ADD_TO_WINDOW, makeFold } from './fold.ts'
import { explainFailure } from '../sqlite/error.ts'
import { closeFile, prepareFile } from '../sqlite/file.ts'
import { migrate } from '../sqlite/schema.ts'
import { inTransaction } from '../sqlite/transaction.ts'
import { journalFile } from './schema.ts'

/** What the journal holds of one cell. */
export interface Unfolded extends CellKey {
  readonly calls: number
  readonly requests: number
}

/** The open database; every method is synchronous and throws what SQLite says. */
export class UsageDatabase {
  // The statements do not keep the database alive: it would be collected and closed under them.
  readonly database: DatabaseSyncInstance
  readonly #append: StatementSyncInstance
  readonly #fold: (cells: readonly Cell[]) => void
  readonly #topUp: StatementSyncInstance
  #seq: number

  readonly #logFile: string
  /** The write-ahead log's descriptor. */
  #log: number | null = null

  constructor(database: DatabaseSyncInstance, file: string) {
    this.database = database
    this.#logFile = `${file}-wal`
    this.#append = database.prepare('INSERT INTO journal VALUES (?, ?)')
    this.#fold = makeFold(database)
    this.#topUp = database.prepare(ADD_TO_WINDOW)
    this.#seq = (
      database.prepare('SELECT coalesce(max(seq), 0) AS seq FROM journal').get() as { seq: number }
    ).seq
  }

  /** Commits one journal record. */
  append(record: string): void {
    // As `run`, without an object that says what changed: an eighth of the time.
    this.#append.get(this.#seq + 1, record)
    this.#seq += 1
  }

  /** Takes cells over into the ledger and empties the journal that they came from. */
  fold(cells: readonly Cell[]): void {
    this.#fold(cells)
  }

  /** Adds requests to a quota window that no charge names. */
  topUpWindow(account: string, start: number, requests: number): void {
    this.#topUp.run(account, start, requests)
  }

  /** What the journal holds that the ledger does not, after a crash. */
  unfolded(): readonly Unfolded[] {
    return this.database.prepare('SELECT * FROM charges').all() as Unfolded[]
  }

  /** Has the system write what was committed, apart from this thread: from then on it survives a power cut too. */
  sync(): void {
    this.#log ??= openSync(this.#logFile, 'r')
    // A disk that fails is heard of at the next checkpoint.
    fdatasync(this.#log, () => undefined)
  }

  /** Moves the write-ahead log into the database file, as far as no reader is in the way. */
  checkpoint(): void {
    this.database.exec('PRAGMA wal_checkpoint(PASSIVE)')
  }

  close(): void {
    if (this.#log !== null) closeSync(this.#log)
    this.#log = null
    closeFile(this.database)
  }
}

/** Opens (and creates) journal.db for its only writer; a failure is one sentence. */
export function openUsageDatabase(dataDir: string): UsageDatabase {
  const file = join(dataDir, journalFile.name)
  let database: DatabaseSyncInstance | undefined
  try {
    const opened = (database = new DatabaseSync(file))
    prepareFile(opened, file, journalFile)
    // A commit is safe from a killed process at once, from a power cut within a checkpoint (docs/decisions.md).
    opened.exec('PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0')
    inTransaction(opened, () => {
      migrate(opened, journalFile)
    })
    return new UsageDatabase(opened, file)
  } catch (error) {
    database?.close()
    throw explainFailure(file, error)
  }
}
