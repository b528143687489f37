/** accounts.db as a copy of what PostgreSQL has. */
import { uptime } from 'node:os'
import { setImmediate as turn } from 'node:timers/promises'
import type { DatabaseSync } from '../../sqlite/driver.ts'
import { explainFailure } from '../../sqlite/error.ts'
import { PATIENCE, whenFree } from '../../sqlite/patience.ts'
import type { OpenedDatabase } from '../../sqlite/place.ts'
import { inTransaction } from '../../sqlite/transaction.ts'
import { statementsOf } from './replica-rows.ts'
import { OF_KEYS, type Table, type Value } from './tables.ts'

/** Rows that are taken in by one transaction: the event loop waits for no more. Before there is a replica nothing is served that could wait. */
const ROWS = 50
const FIRST_ROWS = 5_000
/** Pages of the log from which on a commit writes it back: SQLite's own number. */
const LOG_PAGES = 1_000

/** Of which change it is a copy; `pull` counts how many pulls have begun. Before the first has ended the change is -1. */
export interface ReplicaState {
  readonly change: number
  /** Id of the write that made the change. */
  readonly write: string
  readonly pull: number
  /** When the last pull ended, in Unix milliseconds. */
  readonly pulledAt: number
}

/** One row to take in, or a key to remove. */
export type Step =
  | { readonly table: Table; readonly values: readonly Value[] }
  | { readonly table: Table; readonly removed: Value }

/** What it becomes a copy of. */
export interface Target {
  readonly change: number
  readonly write: string
  /** The highest place in the audit trail that was ever given. */
  readonly audit: number
}

interface ReplicaParts {
  readonly database: DatabaseSync
  readonly file: string
  readonly opened: OpenedDatabase
  /** Writes the log of the file back, apart from this thread; absent where nobody waits for the thread. */
  readonly writeBack?: () => Promise<void>
}

/** The rows of the replica, and how far it has come. */
export class Replica {
  readonly tables: readonly Table[]
  readonly #parts: ReplicaParts
  readonly #sql
  readonly #rows: ReadonlyMap<Table, ReturnType<typeof statementsOf>>
  /** The last pull that was heard of, and how long ago it was then. */
  #heard = { pulledAt: -1, ago: 0, at: 0 }

  constructor(parts: ReplicaParts, tables: readonly Table[]) {
    const { database } = parts
    this.#parts = parts
    this.tables = tables
    this.#sql = {
      state: database.prepare('SELECT change, write, pull, pulled_at AS pulledAt FROM replica'),
      claim: database.prepare(`
        INSERT INTO replica VALUES (1, -1, '', 1, 0) ON CONFLICT (id) DO UPDATE SET pull = pull + 1`),
      reach: database.prepare('UPDATE replica SET change = ?, write = ?, pulled_at = ?'),
      touch: database.prepare('UPDATE replica SET pulled_at = ?'),
      count: database.prepare('UPDATE change SET count = count + ?'),
      audit: database.prepare("UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = 'audit'"),
      firstAudit: database.prepare(`
        INSERT INTO sqlite_sequence (name, seq) SELECT 'audit', ?
        WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'audit')`),
      firstAccount: database.prepare('SELECT id FROM account ORDER BY seq LIMIT 1'),
      freeExternalId: database.prepare(
        'UPDATE account SET external_id = NULL WHERE external_id = ? AND seq <> ?',
      ),
    }
    this.#rows = new Map(tables.map(table => [table, statementsOf(database, table)]))
  }

  /** Null where the file is not a replica, and no pull has begun. */
  state(): ReplicaState | null {
    return (this.#sql.state.get() as ReplicaState | undefined) ?? null
  }

  /** The oldest account, which is never removed. */
  firstAccount(): string | null {
    return (this.#sql.firstAccount.get() as { id: string } | undefined)?.id ?? null
  }

  /** Milliseconds since the last pull, of whichever process. The wall clock, which may jump, says only how long ago it was when it was heard of. */
  age(): number {
    const pulledAt = this.state()?.pulledAt ?? 0
    // Of what never jumps, this alone goes on while the machine sleeps.
    const at = uptime() * 1000
    if (pulledAt !== this.#heard.pulledAt)
      this.#heard = { pulledAt, ago: Math.max(0, Date.now() - pulledAt), at }
    return this.#heard.ago + at - this.#heard.at
  }

  /** Begins a pull: what an earlier one still brings is taken in no more. */
  async claim(): Promise<ReplicaState> {
    return this.#write(() => {
      this.#sql.claim.run()
      return this.state()!
    })
  }

  /**
   * Takes in what a pull brings, a few rows in a transaction, and is a copy of `target` with the last. False when another process has taken in something
   * since `from`: then it stops. `taken` is called in the turn of each transaction that has changed what keys stand for.
   */
  async takeIn(
    from: ReplicaState,
    steps: readonly Step[],
    target: Target | null,
    taken: () => void,
  ): Promise<boolean> {
    const { database, writeBack } = this.#parts
    if (from.change < 0 || steps.length <= ROWS || writeBack === undefined)
      return this.#takeInSlices(from, steps, target, taken)
    // A commit that writes the log back holds the event loop for as long as the disk takes.
    database.exec('PRAGMA wal_autocheckpoint = 0')
    try {
      return await this.#takeInSlices(from, steps, target, taken)
    } finally {
      await writeBack()
      database.exec(`PRAGMA wal_autocheckpoint = ${LOG_PAGES}`)
    }
  }

  async #takeInSlices(
    from: ReplicaState,
    steps: readonly Step[],
    target: Target | null,
    taken: () => void,
  ): Promise<boolean> {
    const most = from.change < 0 ? FIRST_ROWS : ROWS
    for (let i = 0; i === 0 || i < steps.length; i += most) {
      if (i > 0) await turn()
      const isLast = i + most >= steps.length
      const done = await this.#write(() => {
        const touched = this.#takeIn(from, steps.slice(i, i + most), isLast ? target : null)
        if (touched === true) this.#sql.count.run(1)
        return touched
      })
      if (done === null) return false
      if (done) taken()
    }
    return true
  }

  /**
   * Takes in what this process has written itself, all at once, with `counted` for the other processes on this file, and calls `committed` in the same turn.
   * False when the file is another one than `from` meanwhile: nothing was taken in then.
   */
  async takeOwn(
    from: ReplicaState,
    steps: readonly Step[],
    target: Target,
    counted: number,
    committed: () => void,
  ): Promise<boolean> {
    const done = await this.#write(() => {
      if (this.#takeIn(from, steps, target) === null) return false
      this.#sql.count.run(counted)
      return true
    })
    if (done) committed()
    return done
  }

  /** Counts for the other processes what this one has written, which another has taken in. */
  count(counted: number): Promise<void> {
    return this.#write(() => {
      this.#sql.count.run(counted)
    })
  }

  /** Writes down that it is up to date. */
  touch(): Promise<void> {
    return this.#write(() => {
      this.#sql.touch.run(Date.now())
    })
  }

  /** The keys between two others (`from` null: from the first; `to` null: to the last) that are not among `there`. */
  others(table: Table, from: Value, to: Value, there: ReadonlySet<Value>): Value[] {
    const { between } = this.#rows.get(table)!
    const found = between.all(from, to) as { key: Value }[]
    return found.map(({ key }) => key).filter(key => !there.has(key instanceof Uint8Array ? hexOf(key) : key))
  }

  /** Whether some rows touch keys; null when the file is not as it was. Runs in a transaction. */
  #takeIn(from: ReplicaState, steps: readonly Step[], target: Target | null): boolean | null {
    const now = this.state()
    if (now?.change !== from.change || now.write !== from.write || now.pull !== from.pull) return null
    let isOfKeys = false
    for (const step of steps) {
      const isChanged = 'values' in step ? this.#put(step) : this.#remove(step)
      isOfKeys ||= isChanged && OF_KEYS.includes(step.table.name)
    }
    if (target !== null) {
      this.#sql.reach.run(target.change, target.write, Date.now())
      if (target.audit > 0) {
        this.#sql.audit.run(target.audit)
        this.#sql.firstAudit.run(target.audit)
      }
    }
    return isOfKeys
  }

  #put({ table, values }: Extract<Step, { values: unknown }>): boolean {
    const { put, used } = this.#rows.get(table)!
    // That an endpoint was used is no change of its key.
    if (used !== null && used.run(...(values as never[])).changes > 0) return false
    if (table.name === 'account') this.#freeExternalId(table, values)
    put.run(...(values as never[]))
    return true
  }

  /** Another account may have had it, whose own row comes later. */
  #freeExternalId({ columns }: Table, values: readonly Value[]): void {
    const at = (name: string) => values[columns.findIndex(column => column.name === name)] ?? null
    if (at('external_id') !== null) this.#sql.freeExternalId.run(at('external_id'), at('seq'))
  }

  #remove({ table, removed }: Extract<Step, { removed: unknown }>): boolean {
    return this.#rows.get(table)!.remove.run(removed).changes > 0
  }

  async #write<T>(work: () => T): Promise<T> {
    const { database, file, opened } = this.#parts
    try {
      const lost = opened.lost(': the change is lost')
      if (lost !== null) throw lost
      return await whenFree(() => inTransaction(database, work), performance.now() + PATIENCE)
    } catch (error) {
      if (!database.isOpen) throw new Error(`${file} was closed`, { cause: error })
      throw explainFailure(file, error)
    }
  }
}

/** A key of bytes as a set of keys has it. */
export function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}
