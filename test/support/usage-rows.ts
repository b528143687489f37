import { join } from 'node:path'
import { DatabaseSync } from '../../src/stores/sqlite/driver.ts'

/** Rows of one account: every endpoint has every method in every hour. */
export interface FilledAccount {
  readonly accountId: string
  /** The first may be a real one; the others are only known to the ledger. */
  readonly endpointIds: readonly string[]
  readonly methods: number
  /** The hours before `until`, which is in Unix seconds. */
  readonly hours: number
  readonly until: number
}

/** How many rows that makes. */
export function rowsOf({ endpointIds, methods, hours }: FilledAccount): number {
  return endpointIds.length * methods * hours
}

/** Writes usage straight into the journal.db that a gateway has made, which must not be running; a call of cost 1 a row. */
export function fillUsage(dataDir: string, accounts: readonly FilledAccount[]): void {
  const database = new DatabaseSync(join(dataDir, 'journal.db'))
  database.exec('PRAGMA synchronous = OFF; PRAGMA cache_size = -1000000')
  database.exec(
    `CREATE TEMP TABLE n (i INTEGER PRIMARY KEY);
     INSERT INTO n WITH RECURSIVE n(i) AS (VALUES (0) UNION ALL SELECT i + 1 FROM n WHERE i < 9999) SELECT i FROM n`,
  )
  const rows = database.prepare(
    `INSERT INTO usage (endpoint, hour, method, account, network, calls, requests, errors, refusals, bytes_out, upstream_ms, plan, ms_5)
     SELECT ?, ? - (hours.i + 1) * 3600, 'eth_method' || methods.i, ?, 'alpha', 1, 1, 0, 0, 100, 1, 'free', 1
     FROM (SELECT i FROM n WHERE i < ? ORDER BY i DESC) AS hours CROSS JOIN (SELECT i FROM n WHERE i < ?) AS methods`,
  )
  // Made anew behind the rows, in order: to keep them while rows come would take most of the time.
  const indexes = database
    .prepare(
      "SELECT name, sql FROM sqlite_schema WHERE tbl_name = 'usage' AND type = 'index' AND sql IS NOT NULL",
    )
    .all() as { name: string; sql: string }[]
  const totals = database.prepare('INSERT INTO totals VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING')
  database.exec('BEGIN')
  for (const { name } of indexes) database.exec(`DROP INDEX ${name}`)
  for (const account of accounts) {
    const { accountId, endpointIds, methods, hours, until } = account
    const begin = until - (until % 3600)
    for (const endpointId of endpointIds) {
      rows.run(endpointId, begin, accountId, hours, methods)
      totals.run(endpointId, accountId, methods * hours, methods * hours)
    }
  }
  for (const { sql } of indexes) database.exec(sql)
  database.exec('COMMIT; DROP TABLE n')
  database.close()
}
