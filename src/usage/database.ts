/** journal.db: the journal and the ledger, written by one process only. */
import { closeSync, fdatasync, openSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import type { DatabaseSyncInstance, StatementSyncInstance } from '@photostructure/sqlite'
import type { Cell, CellKey } from './cell.ts'
import { makeFold } from './fold.ts'
import { explainFailure } from '../sqlite/error.ts'
import { closeFile, prepareFile } from '../sqlite/file.ts'
import { migrate } from '../sqlite/schema.ts'
import { inTransaction } from '../sqlite/transaction.ts'
import { journalFile } from './schema.ts'
import { makeReadUsed } from './used-in-window.ts'
import type { ReadUsed } from './used-in-window.ts'

/** What the journal holds. */
export interface Unfolded {
  /** Of each cell. */
  readonly charges: readonly (CellKey & { readonly calls: number; readonly requests: number })[]
  /** The last place that it names (record.ts). */
  readonly lastPlace: number
}

const LAST_PLACE =
  'SELECT coalesce(max(e.value ->> 0), 0) AS place FROM journal, json_each(journal.entries) AS e'

/** The open database; every method is synchronous and throws what SQLite says. */
export class UsageDatabase {
  // The statements do not keep the database alive: it would be collected and closed under them.
  readonly database: DatabaseSyncInstance
  /** What an account has used of a quota window. */
  readonly readUsed: ReadUsed
  readonly #append: StatementSyncInstance
  readonly #fold: (cells: readonly Cell[]) => void
  #seq: number

  readonly #logFile: string
  /** The write-ahead log's descriptor. */
  #log: number | null = null

  constructor(database: DatabaseSyncInstance, file: string) {
    this.database = database
    this.#logFile = `${file}-wal`
    this.#append = database.prepare('INSERT INTO journal VALUES (?, ?)')
    this.#fold = makeFold(database)
    this.readUsed = makeReadUsed(database)
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

  /** What the journal holds that the ledger does not, after a crash. */
  unfolded(): Unfolded {
    const charges = this.database.prepare('SELECT * FROM charges').all() as Unfolded['charges']
    const { place } = this.database.prepare(LAST_PLACE).get() as { place: number }
    return { charges, lastPlace: place }
  }

  /** Has the system write what was committed, apart from this thread: from then on it survives a power cut too. */
  sync(): void {
    this.#log ??= openSync(this.#logFile, 'r')
    // A disk that fails is heard of at the next checkpoint.
    fdatasync(this.#log, () => undefined)
  }

  /** Moves the write-ahead log into the database file, as far as no reader is in the way. Returns the pages in the log. */
  checkpoint(): number {
    return (this.database.prepare('PRAGMA wal_checkpoint(PASSIVE)').get() as { log: number }).log
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
