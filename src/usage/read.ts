/** Reads of the ledger together with what the journal holds. */
import type { DatabaseSyncInstance } from '@photostructure/sqlite'
import type { Totals, UsageQuery, UsageRow } from './types.ts'

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

/** Requests that an account used in the quota window that starts then. */
export function readWindow(database: DatabaseSyncInstance, accountId: string, start: number): number {
  const sql = 'SELECT coalesce(sum(requests), 0) AS requests FROM windows_now WHERE account = ? AND start = ?'
  return (database.prepare(sql).get(accountId, start) as { requests: number }).requests
}

/** Rows of the ledger by hour or day (UTC), oldest first. */
export function readRows(database: DatabaseSyncInstance, query: UsageQuery): UsageRow[] {
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
  const sql = `SELECT hour - hour % ${span} AS time, account AS accountId, endpoint AS endpointId, network, method,
      sum(calls) AS calls, sum(requests) AS requests, sum(errors) AS errors, sum(refusals) AS refusals
    FROM usage_now WHERE ${where.join(' AND ')}
    GROUP BY time, account, endpoint, network, method ORDER BY time, account, endpoint, method`
  return database.prepare(sql).all(...values) as UsageRow[]
}
