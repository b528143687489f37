/** Reads of the ledger: of its tables, or of the views that add what the journal holds, for processes that know of it by the file only. */
import type { DatabaseSync } from '../driver.ts'
import type { Totals } from '../../../ports/ledger.ts'

/** Totals of some endpoints of an account; without `endpointIds` of all that it ever had, however many that are. */
export function readTotals(
  database: DatabaseSync,
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
export function readOldest(database: DatabaseSync): number | null {
  return (database.prepare('SELECT min(hour) AS hour FROM usage_now').get() as { hour: number | null }).hour
}
