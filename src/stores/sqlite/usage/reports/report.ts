/** A report of what has changed in the ledger, as it is at one moment, in pages. */
import { DatabaseSync } from '../../driver.ts'
import type { StatementSync } from '../../driver.ts'
import type { NodeRow } from './changes.ts'
import { columnsOf, hasHour, TRACKED } from './tracked.ts'
import type { Tracked } from './tracked.ts'

/** Rows of a page: a few milliseconds of the thread. */
export const PAGE_ROWS = 1_000
/** Milliseconds that it waits for a file that is being recovered. */
const PATIENCE = 5_000

/** The part of a report that is sent in one statement. */
export interface Page {
  readonly table: Tracked['table']
  readonly rows: number
  /** The values of each column, as PostgreSQL writes an array. */
  readonly columns: readonly string[]
}

type Key = readonly (string | number)[]

/** Reads reports from a connection of its own, which sees nothing of what is folded meanwhile. */
export class ReportReader {
  readonly #database: DatabaseSync
  readonly #statements = new Map<string, StatementSync>()

  constructor(file: string) {
    this.#database = new DatabaseSync(file, { readOnly: true, timeout: PATIENCE })
  }

  /** What was not acknowledged yet, as it is now. The first page has to be asked for in the same turn; the moment ends with the last, or with `end`. */
  *pages({ acked, since }: NodeRow): Generator<Page, void> {
    this.#database.exec('BEGIN')
    this.#database.prepare('SELECT 1 FROM node').get()
    try {
      for (const tracked of TRACKED) yield* this.#pagesOf(tracked, acked, since)
    } finally {
      this.end()
    }
  }

  /** Lets go of the moment: the log of the file cannot start anew before. */
  end(): void {
    if (this.#database.isTransaction) this.#database.exec('COMMIT')
  }

  close(): void {
    this.#database.close()
  }

  *#pagesOf(tracked: Tracked, acked: number, since: number | null): Generator<Page, void> {
    const { table, key } = tracked
    const place = ['rev', ...key]
    const at = `SELECT ${place.join(', ')} FROM changed_${table} WHERE`
    const order = (direction: string): string =>
      `ORDER BY ${place.map(name => `${name} ${direction}`).join(', ')} LIMIT 1`
    const row = `(${place.join(', ')})`
    const marks = `(${place.map(() => '?').join(', ')})`
    let from = this.#get(`${at} rev > ? ${order('ASC')}`, [acked])
    while (from !== null) {
      const last =
        this.#get(`${at} ${row} >= ${marks} ${order('ASC')} OFFSET ${PAGE_ROWS - 1}`, from) ??
        this.#get(`${at} ${row} >= ${marks} ${order('DESC')}`, from)!
      const values = this.#statement(pageSql(tracked, since)).get(...from, ...last) as Readonly<
        Record<string, string | number>
      >
      const rows = Number(values['rows'])
      if (rows > 0)
        yield { table, rows, columns: columnsOf(tracked).map(name => `{${values[name] as string}}`) }
      from = this.#get(`${at} ${row} > ${marks} ${order('ASC')}`, last)
    }
  }

  #get(sql: string, values: Key): Key | null {
    const found = this.#statement(sql).get(...values) as Readonly<Record<string, string | number>> | undefined
    return found === undefined ? null : Object.values(found)
  }

  #statement(sql: string): StatementSync {
    let statement = this.#statements.get(sql)
    if (statement === undefined) this.#statements.set(sql, (statement = this.#database.prepare(sql)))
    return statement
  }
}

/** SQLite puts the arrays together: a tenth of the time that it takes here. */
function pageSql(tracked: Tracked, since: number | null): string {
  const { table, key, names, sums, numbers } = tracked
  const place = ['rev', ...key]
  const own = place.map(name => `c.${name}`).join(', ')
  const marks = place.map(() => '?').join(', ')
  const isForked = since !== null
  const value = (sum: string): string => (isForked ? `t.${sum} - coalesce(b.${sum}, 0)` : `t.${sum}`)
  const texts = [...key, ...names].filter(name => !numbers.includes(name))
  const columns = columnsOf(tracked).map(name =>
    texts.includes(name)
      ? `group_concat('"' || replace(replace(${name}, '\\', '\\\\'), '"', '\\"') || '"') AS ${name}`
      : `group_concat(${name}) AS ${name}`,
  )
  const inner = [
    ...[...key, ...names].map(name => `t.${name}`),
    ...sums.map(sum => `${value(sum)} AS ${sum}`),
  ]
  const on = (other: string): string => key.map(name => `${other}.${name} = c.${name}`).join(' AND ')
  const joined = isForked ? `LEFT JOIN base_${table} AS b ON ${on('b')}` : ''
  const where = [
    `(${own}) >= (${marks}) AND (${own}) <= (${marks})`,
    ...(isForked
      ? [`(b.${key[0]!} IS NULL OR ${sums.map(sum => `t.${sum} <> b.${sum}`).join(' OR ')})`]
      : []),
    ...(isForked && hasHour(tracked) ? [`t.hour >= ${since}`] : []),
  ]
  return `SELECT count(*) AS rows, ${columns.join(', ')} FROM (
    SELECT ${inner.join(', ')} FROM changed_${table} AS c CROSS JOIN ${table} AS t ON ${on('t')} ${joined}
    WHERE ${where.join(' AND ')})`
}
