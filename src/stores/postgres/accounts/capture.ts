/** Which rows some work on accounts.db would change: it is carried out, looked at and taken back. */
import type { DatabaseSync } from '../../sqlite/driver.ts'
import { quoted, type Row, type Table, type Value } from './tables.ts'

/** What a change writes to one table. */
export interface TableChange {
  readonly table: Table
  readonly rows: readonly Row[]
  /** Keys of rows that are gone. */
  readonly removed: readonly Value[]
}

/** What came of the work. */
export interface Captured<T> {
  readonly result: T
  /** Nothing where it changed nothing. */
  readonly changes: readonly TableChange[]
  /** Whether it counted as a change for the other processes on this file. */
  readonly counted: number
}

/** What a part of the work has returned, or thrown. */
export type Outcome = { readonly result: unknown } | { readonly error: unknown }

/** Notes what work changes, by triggers of this connection alone. The holder keeps the database referenced. */
export class Capture {
  readonly #database: DatabaseSync
  readonly #tables: readonly Table[]
  readonly #sql

  constructor(database: DatabaseSync, tables: readonly Table[]) {
    this.#database = database
    this.#tables = tables
    database.exec(`
      CREATE TEMP TABLE capturing (is_on INTEGER NOT NULL);
      INSERT INTO capturing VALUES (0);
      CREATE TEMP TABLE captured (tbl TEXT NOT NULL, key, PRIMARY KEY (tbl, key)) WITHOUT ROWID;
      ${tables.flatMap(table => ['INSERT', 'UPDATE', 'DELETE'].map(event => trigger(table, event))).join('\n')}`)
    this.#sql = {
      turn: database.prepare('UPDATE capturing SET is_on = ?'),
      count: database.prepare('SELECT count FROM change'),
      touched: database.prepare('SELECT DISTINCT tbl FROM captured'),
      rows: tables.map(({ name, key, columns }) => {
        const all = quoted(
          columns.map(column => column.name),
          't.',
        )
        return {
          there: database.prepare(
            `SELECT ${all} FROM captured JOIN ${name} AS t ON t.${key} = captured.key WHERE tbl = '${name}'`,
          ),
          gone: database.prepare(
            `SELECT key FROM captured WHERE tbl = '${name}'
               AND NOT EXISTS (SELECT 1 FROM ${name} AS t WHERE t.${key} = captured.key)`,
          ),
        }
      }),
    }
  }

  /** Carries out `work`, unless `isExact` says in the same transaction that this file is behind: then null. Leaves the file as it was. */
  tryOut<T>(work: () => T, isExact: () => boolean): Captured<T> | null {
    this.#database.exec('BEGIN IMMEDIATE')
    try {
      if (!isExact()) return null
      const before = this.#count()
      this.#sql.turn.run(1)
      const result = work()
      const counted = this.#count() - before
      return { result, counted, changes: this.#changes() }
    } finally {
      // What was noted goes with it.
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK')
    }
  }

  /** Runs a part of the work. What it throws takes back that part alone, unless SQLite has taken back everything, as it does on a full disk. */
  apart(part: () => unknown): Outcome {
    const database = this.#database
    database.exec('SAVEPOINT part')
    try {
      const result = part()
      database.exec('RELEASE part')
      return { result }
    } catch (error) {
      if (!database.isTransaction) throw error
      database.exec('ROLLBACK TO part; RELEASE part')
      return { error }
    }
  }

  #changes(): TableChange[] {
    const touched = new Set((this.#sql.touched.all() as { tbl: string }[]).map(({ tbl }) => tbl))
    return this.#tables
      .flatMap((table, i) => (touched.has(table.name) ? [{ table, i }] : []))
      .map(({ table, i }) => ({
        table,
        rows: this.#sql.rows[i]!.there.all(),
        removed: (this.#sql.rows[i]!.gone.all() as { key: Value }[]).map(({ key }) => key),
      }))
      .filter(({ rows, removed }) => rows.length + removed.length > 0)
  }

  #count(): number {
    return (this.#sql.count.get() as { count: number }).count
  }
}

function trigger({ name, key }: Table, event: string): string {
  return `CREATE TEMP TRIGGER captured_${name}_${event} AFTER ${event} ON main.${name}
    WHEN (SELECT is_on FROM capturing)
    BEGIN INSERT OR IGNORE INTO captured VALUES ('${name}', ${event === 'DELETE' ? 'OLD' : 'NEW'}.${key}); END;`
}
