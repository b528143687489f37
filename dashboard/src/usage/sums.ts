/** Adds rows of the ledger up. */
import type { UsageRow } from '../api/types.ts'

/** What some rows come to. */
export interface Sum {
  readonly calls: number
  readonly requests: number
  readonly errors: number
  /** Calls refused for the rate; null where the gateway does not tell refusals apart. */
  readonly rateLimited: number | null
}

/** The sum of rows. */
export function sumOf(rows: readonly UsageRow[]): Sum {
  const add = (of: (row: UsageRow) => number): number => rows.reduce((total, row) => total + of(row), 0)
  return {
    calls: add(({ calls }) => calls),
    requests: add(({ requests }) => requests),
    errors: add(({ errors }) => errors),
    rateLimited: rows.some(row => row.refusalsByReason !== undefined)
      ? add(row => row.refusalsByReason?.['rate_limited'] ?? 0)
      : null,
  }
}

/** Rows by what `keyOf` says of each, in the order they first appear. */
export function groupRows(
  rows: readonly UsageRow[],
  keyOf: (row: UsageRow) => string,
): ReadonlyMap<string, readonly UsageRow[]> {
  const groups = new Map<string, UsageRow[]>()
  for (const row of rows) {
    const key = keyOf(row)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [row])
    else group.push(row)
  }
  return groups
}
