/**
 * Adds what the ledger has not taken over yet to what its tables say. The journal says the same, and is what other processes read, but one that holds
 * the cells needs not read thousands of charges for the few of one account.
 */
import type { Cell } from './cell.ts'
import { hoursOf, timeOf } from './read.ts'
import type { Totals, UsageDetail, UsageQuery, UsageRow } from './types.ts'

/** A row of the ledger with all its columns. */
type Row = UsageRow & UsageDetail

/** Totals by endpoint, with the charges of `held`, the cells of one account. */
export function withHeldTotals(
  totals: ReadonlyMap<string, Totals>,
  held: readonly Cell[],
): ReadonlyMap<string, Totals> {
  const sums = new Map(totals)
  for (const { endpoint, calls, requests } of held.filter(isCharged)) {
    const sum = sums.get(endpoint)
    sums.set(endpoint, {
      calls: (sum?.calls ?? 0) + calls,
      requests: (sum?.requests ?? 0) + requests,
    })
  }
  return sums
}

/** Rows that a query has found in the tables, with the charges of `held` that it asks for, in the same order. */
export function withHeldRows(rows: readonly Row[], held: readonly Cell[], query: UsageQuery): readonly Row[] {
  const [from, to] = hoursOf(query)
  const wanted = held.filter(
    cell =>
      isCharged(cell) &&
      cell.hour >= from &&
      cell.hour < to &&
      (query.endpointId === undefined || cell.endpoint === query.endpointId),
  )
  if (wanted.length === 0) return rows
  const byKey = new Map(rows.map(row => [keyOf(row), row]))
  for (const cell of wanted) {
    const fresh = rowOf(cell, timeOf(cell.hour, query))
    const { calls, requests, ...known } = byKey.get(keyOf(fresh)) ?? { ...fresh, calls: 0, requests: 0 }
    byKey.set(keyOf(fresh), { ...known, calls: calls + cell.calls, requests: requests + cell.requests })
  }
  return [...byKey.values()].sort(inOrder)
}

/** Errors, refusals, bytes and times come with the fold. */
function rowOf({ account, endpoint, network, method, calls, requests }: Cell, time: number): Row {
  const rest = { errors: 0, refusals: 0, bytesOut: 0, upstreamMs: 0 }
  return { time, accountId: account, endpointId: endpoint, network, method, calls, requests, ...rest }
}

/** Whether the journal speaks of it, if only of charges that were given back; it does not name what it held at the start anew. */
function isCharged({ named, calls, requests }: Cell): boolean {
  return named || calls !== 0 || requests !== 0
}

function keyOf({ time, accountId, endpointId, method }: Row): string {
  return `${time} ${accountId} ${endpointId} ${method}`
}

/** As the tables' rows come. */
function inOrder(a: Row, b: Row): number {
  return (
    a.time - b.time ||
    compare(a.accountId, b.accountId) ||
    compare(a.endpointId, b.endpointId) ||
    compare(a.method, b.method)
  )
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
