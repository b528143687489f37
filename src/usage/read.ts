/** Reads of the ledger: of its tables, or of the views that add what the journal holds, for processes that know of it by the file only. */
import type { DatabaseSyncInstance } from '@photostructure/sqlite'
import type { RefusalRow, Totals, UsageDetail, UsageQuery, UsageRow } from './types.ts'

/** Totals of some endpoints of an account; without `endpointIds` of all that it ever had, however many that are. */
export function readTotals(
  database: DatabaseSyncInstance,
  from: 'totals' | 'totals_now',
  accountId: string,
  endpointIds?: readonly string[],
): Map<string, Totals> {
  const only = endpointIds === undefined ? '' : 'AND endpoint IN (SELECT value FROM json_each(?))'
  const values = endpointIds === undefined ? [accountId] : [accountId, JSON.stringify(endpointIds)]
  const rows = database
    .prepare(
      `SELECT endpoint, sum(calls) AS calls, sum(requests) AS requests FROM ${from} WHERE account = ? ${only} GROUP BY endpoint`,
    )
    .all(...values)
  return new Map(
    (rows as { endpoint: string; calls: number; requests: number }[]).map(({ endpoint, calls, requests }) => [
      endpoint,
      { calls, requests },
    ]),
  )
}

/** The hour of the oldest row; null on an empty ledger. */
export function readOldest(database: DatabaseSyncInstance): number | null {
  return (database.prepare('SELECT min(hour) AS hour FROM usage_now').get() as { hour: number | null }).hour
}

/** Rows of the ledger by hour or day (UTC), oldest first. */
export function readRows(
  database: DatabaseSyncInstance,
  from: 'usage' | 'usage_now',
  query: UsageQuery,
): readonly (UsageRow & UsageDetail)[] {
  const { time, where, values } = conditions(query)
  const sql = `SELECT ${time} AS time, account AS accountId, endpoint AS endpointId, network, method,
      sum(calls) AS calls, sum(requests) AS requests, sum(errors) AS errors, sum(refusals) AS refusals,
      sum(bytes_out) AS bytesOut, sum(upstream_ms) AS upstreamMs
    FROM ${from} WHERE ${where}
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

/** The hours that a query asks for: from the first to before the other. */
function hoursOf({ from, to }: UsageQuery): readonly [number, number] {
  return [Math.floor(from / 3600) * 3600, to]
}

/** Seconds of a row. */
const SPAN = { hour: 3600, day: 86_400 }

/** What a query says in SQL. */
function conditions(query: UsageQuery): {
  readonly time: string
  readonly where: string
  readonly values: readonly (string | number)[]
} {
  const where = ['hour >= ?', 'hour < ?']
  const values: (string | number)[] = [...hoursOf(query)]
  for (const [column, value] of [
    ['account', query.accountId],
    ['endpoint', query.endpointId],
  ] as const)
    if (value !== undefined) {
      where.push(`${column} = ?`)
      values.push(value)
    }
  return { time: `hour - hour % ${SPAN[query.by]}`, where: where.join(' AND '), values }
}
