/** journal.db: the journal and the ledger, written by one process only. */
import { closeSync, fdatasync, openSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from '../driver.ts'
import type { StatementSync } from '../driver.ts'
import type { UsageCounter } from './counters.ts'
import { makeFold } from './fold.ts'
import type { Fold, Spent, Usage } from './fold.ts'
import { closedFile } from '../closed-file.ts'
import { explainFailure } from '../error.ts'
import { closeFile, prepareFile } from '../file.ts'
import { OpenedDatabase, OpenedFile, realPath, refuseLoneLog } from '../place.ts'
import { createTables } from '../schema.ts'
import { inTransaction } from '../transaction.ts'
import { journalFile } from './schema.ts'
import { makeReadUsed, makeReadUsedBy } from './used-in-window.ts'
import type { ReadUsed, ReadUsedBy } from './used-in-window.ts'

/** A few of the oldest records. */
const TRIM = 'DELETE FROM journal WHERE seq <= min(?, (SELECT min(seq) FROM journal) + 99)'

/** The open database; every method is synchronous and throws what SQLite says. */
export class UsageDatabase {
  // The statements do not keep the database alive: it would be collected and closed under them.
  readonly database: DatabaseSync
  /** What an account has used of a quota window. */
  readonly readUsed: ReadUsed
  /** What one endpoint has used in one. */
  readonly readUsedBy: ReadUsedBy
  readonly #append: StatementSync
  readonly #fold: Fold
  readonly #taken: StatementSync
  readonly #trim: StatementSync
  readonly #newest: StatementSync
  #spent: (spent: readonly Spent[]) => void = () => undefined
  #seq: number
  #refused: Error | null = null
  /** Whether usage was committed since the last `sync`. */
  #isUnsynced = false
  /** The path of journal.db, behind symbolic links. */
  readonly file: string
  /** It and its write-ahead log, as they were opened. */
  readonly #opened: OpenedDatabase
  /** Whether most of the file is still to be checked. */
  readonly isUnchecked: boolean
  /** The write-ahead log's descriptor; null once it is closed. */
  #log: number | null

  constructor(database: DatabaseSync, file: string, isUnchecked: boolean) {
    this.database = database
    this.file = file
    this.isUnchecked = isUnchecked
    this.#append = database.prepare('INSERT INTO journal VALUES (?, ?)')
    this.#fold = makeFold(database)
    this.#newest = database.prepare(
      'SELECT account, max(start) AS start, requests FROM windows WHERE account > ? GROUP BY account ORDER BY account LIMIT 500',
    )
    this.#taken = database.prepare('SELECT place FROM taken WHERE file = ?')
    this.#trim = database.prepare(TRIM)
    this.readUsed = makeReadUsed(database, () => {
      this.#mayWrite()
    })
    this.readUsedBy = makeReadUsedBy(database)
    this.#seq = (
      database.prepare('SELECT coalesce(max(seq), 0) AS seq FROM journal').get() as { seq: number }
    ).seq
    // Reading has made the log.
    this.#opened = new OpenedDatabase(new OpenedFile(file))
    this.#log = openSync(`${file}-wal`, 'r')
  }

  /** Why nothing is recorded any more; null while all is well. */
  get refused(): Error | null {
    return this.#refused
  }

  /** The number of the last journal record; they only grow while the database is open. */
  get seq(): number {
    return this.#seq
  }

  /** Commits one journal record. */
  append(record: string): void {
    this.#mayWrite()
    // As `run`, without an object that says what changed: an eighth of the time.
    this.#append.get(this.#seq + 1, record)
    this.#seq += 1
    this.#isUnsynced = true
  }

  /** Takes the first of `counters` over into the tables, for about `ms` milliseconds; returns how many it took (fold.ts). */
  fold(counters: readonly UsageCounter[], ms = Infinity): number {
    this.#mayWrite()
    this.#isUnsynced = true
    return this.#toldOf(() => this.#fold.own(counters, ms))
  }

  /** Takes over what another process's journal holds up to a place; returns whether that was new (fold.ts). */
  take(file: string, place: number, usage: readonly Usage[]): boolean {
    this.#mayWrite()
    const isNew = this.#toldOf(() => this.#fold.others(file, place, usage))
    this.#isUnsynced ||= isNew
    return isNew
  }

  /** Takes over the first of the counters that a killed process has left in its journal, for about `ms` milliseconds; returns how many it took (fold.ts). */
  takeLeft(file: string, counters: readonly UsageCounter[], ms: number): number {
    this.#mayWrite()
    this.#isUnsynced = true
    return this.#toldOf(() => this.#fold.left(file, counters, ms))
  }

  /** `listener` hears what accounts have used of their quota windows, each time some of it is in the tables. */
  whenSpent(listener: (spent: readonly Spent[]) => void): void {
    this.#spent = listener
  }

  /** What accounts had used of the newest window that they have, a few at a time; `after` is the account of the last. */
  newestWindows(after: string): readonly Spent[] {
    return this.#newest.all(after) as readonly Spent[]
  }

  /** What accounts have used of some windows. */
  usedOf(windows: readonly Pick<Spent, 'account' | 'start'>[]): readonly Spent[] {
    const used = this.database.prepare('SELECT requests FROM windows WHERE account = ? AND start = ?')
    return windows.map(({ account, start }) => {
      const row = used.get(account, start) as { readonly requests: number } | undefined
      return { account, start, requests: row?.requests ?? 0 }
    })
  }

  /** Up to which place it has what another process's journal holds. */
  taken(file: string): number {
    const row = this.#taken.get(file) as { readonly place: number } | undefined
    return row?.place ?? 0
  }

  /** The names of journals of which it has something. */
  takenFiles(): readonly string[] {
    const rows = this.database.prepare('SELECT file FROM taken').all() as { readonly file: string }[]
    return rows.map(({ file }) => file)
  }

  /** The journal of another process is no more. */
  forget(file: string): void {
    this.database.prepare('DELETE FROM taken WHERE file = ?').run(file)
  }

  /** Drops journal records up to number `seq`, all of whose charges are in the tables, for about `ms`; returns whether more are left. */
  trim(seq: number, ms: number): boolean {
    this.#mayWrite()
    const end = performance.now() + ms
    while (this.#trim.run(seq).changes > 0) if (performance.now() >= end) return true
    return false
  }

  /** Lets places begin with 1 again. The journal has to be empty. */
  startAnew(): void {
    this.database.exec('UPDATE folded SET place = 0 WHERE place <> 0')
  }

  /** From now on nothing is recorded: each attempt throws `reason`. */
  refuse(reason: Error): void {
    this.#refused = reason
  }

  /** Why the files at their paths are not the ones that are open: what is recorded would be lost with them. Null while they are. */
  lost(): Error | null {
    return this.#opened.lost()
  }

  /** Has the system write what was committed, apart from this thread: from then on it survives a power cut too. */
  sync(): void {
    if (this.#log === null || !this.#isUnsynced) return
    this.#isUnsynced = false
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

  /** What a transaction that failed had added is not told. */
  #toldOf<T>(fold: () => T): T {
    this.#fold.spent()
    const result = fold()
    const spent = this.#fold.spent()
    if (spent.length > 0) this.#spent(spent)
    return result
  }

  #mayWrite(): void {
    if (this.#refused !== null) throw this.#refused
  }
}

/** Opens (and creates) journal.db, or a file of its kind, for its only writer; a failure is one sentence. */
export function openUsageDatabase(dataDir: string, name = journalFile.name): UsageDatabase {
  const path = join(dataDir, name)
  let database: DatabaseSync | undefined
  const closed = closedFile(path)
  try {
    refuseLoneLog(path)
    const opened = (database = new DatabaseSync(path))
    const file = realPath(path)
    const isUnchecked = prepareFile(opened, file, journalFile)
    // A commit is safe from a killed process at once, from a power cut within a checkpoint (docs/decisions/storage.md).
    opened.exec('PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = -32000')
    inTransaction(opened, () => {
      createTables(opened, journalFile)
    })
    return new UsageDatabase(opened, file, isUnchecked)
  } catch (error) {
    database?.close()
    throw explainFailure(path, error, closed)
  }
}
