/** Reads of the ledger together with what the journal holds. */
import type { DatabaseSyncInstance } from '@photostructure/sqlite'
import type { RefusalRow, Totals, UsageDetail, UsageQuery, UsageRow } from './types.ts'
import type { Window } from './window.ts'

/** Totals of every endpoint that an account ever had, deleted ones included. */
export function readTotals(database: DatabaseSyncInstance, accountId: string): Map<string, Totals> {
  const rows = database
    .prepare(
      'SELECT endpoint, sum(calls) AS calls, sum(requests) AS requests FROM totals_now WHERE account = ? GROUP BY endpoint',
    )
    .all(accountId)
  return new Map(
    (rows as { endpoint: string; calls: number; requests: number }[]).map(({ endpoint, calls, requests }) => [
      endpoint,
      { calls, requests },
    ]),
  )
}

/** Requests charged to the quota window of an account that starts then, and whether any ever were. */
export function readWindow(
  database: DatabaseSyncInstance,
  accountId: string,
  start: number,
): { readonly recorded: boolean; readonly requests: number } {
  const sql =
    'SELECT count(*) AS rows, coalesce(sum(requests), 0) AS requests FROM windows_now WHERE account = ? AND start = ?'
  const { rows, requests } = database.prepare(sql).get(accountId, start) as { rows: number; requests: number }
  return { recorded: rows > 0, requests }
}

/** Requests of an account in the hours that lie wholly within a window. */
export function readWithin(
  database: DatabaseSyncInstance,
  accountId: string,
  { start, end }: Window,
): number {
  const sql =
    'SELECT coalesce(sum(requests), 0) AS requests FROM usage_now WHERE account = ? AND hour BETWEEN ? AND ?'
  return (database.prepare(sql).get(accountId, start, end - 3600) as { requests: number }).requests
}

/** The hour of the oldest row; null on an empty ledger. */
export function readOldest(database: DatabaseSyncInstance): number | null {
  return (database.prepare('SELECT min(hour) AS hour FROM usage_now').get() as { hour: number | null }).hour
}

/** Rows of the ledger by hour or day (UTC), oldest first. */
export function readRows(
  database: DatabaseSyncInstance,
  query: UsageQuery,
): readonly (UsageRow & UsageDetail)[] {
  const { time, where, values } = conditions(query)
  const sql = `SELECT ${time} AS time, account AS accountId, endpoint AS endpointId, network, method,
      sum(calls) AS calls, sum(requests) AS requests, sum(errors) AS errors, sum(refusals) AS refusals,
      sum(bytes_out) AS bytesOut, sum(upstream_ms) AS upstreamMs
    FROM usage_now WHERE ${where}
    GROUP BY time, account, endpoint, network, method ORDER BY time, account, endpoint, method`
  return database.prepare(sql).all(...values) as (UsageRow & UsageDetail)[]
}

/** The refusals of such rows by reason, in the same order. */
export function readRefusals(database: DatabaseSyncInstance, query: UsageQuery): readonly RefusalRow[] {
  const { time, where, values } = conditions(query)
  const sql = `SELECT ${time} AS time, account AS accountId, endpoint AS endpointId, network, method, reason,
      sum(count) AS refusals
    FROM refusals WHERE ${where}
    GROUP BY time, account, endpoint, network, method, reason ORDER BY time, account, endpoint, method, reason`
  return database.prepare(sql).all(...values) as RefusalRow[]
}

/** What a query says in SQL. */
function conditions(query: UsageQuery): {
  readonly time: string
  readonly where: string
  readonly values: readonly (string | number)[]
} {
  const span = query.by === 'hour' ? 3600 : 86_400
  const where = ['hour >= ?', 'hour < ?']
  const values: (string | number)[] = [Math.floor(query.from / 3600) * 3600, query.to]
  for (const [column, value] of [
    ['account', query.accountId],
    ['endpoint', query.endpointId],
  ] as const)
    if (value !== undefined) {
      where.push(`${column} = ?`)
      values.push(value)
    }
  return { time: `hour - hour % ${span}`, where: where.join(' AND '), values }
}
