/** Statements that take cells over into the ledger. */
import type { DatabaseSyncInstance } from '@photostructure/sqlite'
import { inTransaction } from '../sqlite/transaction.ts'
import type { Cell } from './cell.ts'

const USAGE = `INSERT INTO usage VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT DO UPDATE SET calls = calls + excluded.calls, requests = requests + excluded.requests,
    errors = errors + excluded.errors, refusals = refusals + excluded.refusals,
    bytes_out = bytes_out + excluded.bytes_out, upstream_ms = upstream_ms + excluded.upstream_ms`

const TOTALS = `INSERT INTO totals VALUES (?, ?, ?, ?)
  ON CONFLICT DO UPDATE SET calls = calls + excluded.calls, requests = requests + excluded.requests`

/** Adds requests to a quota window of an account. */
export const ADD_TO_WINDOW = `INSERT INTO windows VALUES (?, ?, ?)
  ON CONFLICT DO UPDATE SET requests = requests + excluded.requests`

const REFUSALS = `INSERT INTO refusals VALUES (?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT DO UPDATE SET count = count + excluded.count`

/** Adds cells to the ledger and deletes the journal up to `seq`: all of it, or nothing. */
export function makeFold(database: DatabaseSyncInstance): (cells: readonly Cell[], seq: number) => void {
  const usage = database.prepare(USAGE)
  const totals = database.prepare(TOTALS)
  const windows = database.prepare(ADD_TO_WINDOW)
  const refused = database.prepare(REFUSALS)
  const forget = database.prepare('DELETE FROM journal WHERE seq <= ?')
  const write = (cell: Cell): void => {
    const { endpoint, hour, method, account, network, calls, requests, errors, refusals } = cell
    const counts = [calls, requests, errors, refusals, cell.bytesOut, Math.round(cell.upstreamMs)]
    usage.run(endpoint, hour, method, account, network, ...counts)
    if (cell.reasons !== null)
      for (const [reason, count] of cell.reasons)
        refused.run(endpoint, hour, method, reason, account, network, count)
    if (calls === 0 && requests === 0) return
    totals.run(endpoint, account, calls, requests)
    if (cell.window !== 0) windows.run(account, cell.window, requests)
  }
  return (cells, seq) => {
    inTransaction(database, () => {
      cells.forEach(write)
      forget.run(seq)
    })
  }
}
