/** Rows of the ledger with all that it keeps of them. */
import type { RefusalRow, UsageDetail, UsageQuery, UsageReader, UsageRow } from './types.ts'

/** A row with its refusals by reason. */
export type DetailedRow = UsageRow &
  UsageDetail & { readonly refusalsByReason: Readonly<Record<string, number>> }

/** The rows of a query, each with why its calls were refused. */
export function detailedRows(
  reader: Pick<UsageReader, 'rows' | 'refusals'>,
  query: UsageQuery,
): DetailedRow[] {
  // Refusals first: those that come in between are then missing in the detail, not in the sum.
  const reasons = new Map<string, RefusalRow[]>()
  for (const row of reader.refusals(query)) {
    const known = reasons.get(keyOf(row))
    if (known === undefined) reasons.set(keyOf(row), [row])
    else known.push(row)
  }
  return reader.rows(query).map(row => ({
    ...row,
    refusalsByReason: Object.fromEntries(
      (reasons.get(keyOf(row)) ?? []).map(({ reason, refusals }) => [reason, refusals]),
    ),
  }))
}

function keyOf({ time, endpointId, method }: RefusalRow | UsageRow): string {
  return `${time} ${endpointId} ${method}`
}
