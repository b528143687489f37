/**
 * Before a report that has every row: hours that may have become days in the ledger since they were sent are removed, so that neither is added to the other.
 * That is behind an attempt that was interrupted, or a time in which usage was kept by the machine alone.
 */
import type { LedgerChanges } from '../../sqlite/usage/reports/changes.ts'
import { TRACKED_DAYS } from '../../sqlite/usage/reports/tracked.ts'
import type { Postgres } from '../postgres.ts'
import { fence } from './nodes.ts'
import type { Fence } from './nodes.ts'
import { ROLLED } from './partitions.ts'

/** Removes them, an hour in a transaction; `now` in milliseconds. Says why where the node is not this process's any more. */
export async function clearOld(
  postgres: Postgres,
  changes: Pick<LedgerChanges, 'node'>,
  now: number,
): Promise<Exclude<Awaited<ReturnType<typeof fence>>, Fence> | null> {
  const before = Math.floor(now / 1000) - TRACKED_DAYS * 86_400
  for (const { table } of ROLLED)
    for (;;) {
      const cleared = await postgres.transaction(async query => {
        const fenced = await fence(query, changes.node)
        if (typeof fenced === 'string') return fenced
        // As the index has it, and by the hour alone: a partition.
        const [first] = await query<{ hour: number | null }>(
          `SELECT min(hour) AS hour FROM ${table} WHERE node <> 0 AND node = $1 AND hour >= $2 AND hour < $3`,
          [fenced.no, fenced.rolled, before],
        )
        if (first?.hour == null) return null
        await query(`DELETE FROM ${table} WHERE node <> 0 AND node = $1 AND hour = $2`, [
          fenced.no,
          first.hour,
        ])
        return true
      })
      if (typeof cleared === 'string') return cleared
      if (cleared === null) break
    }
  return null
}
