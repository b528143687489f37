/** Adds rows of the ledger up. */
import { BUCKETS } from '../../../src/ports/latency.ts'
import type { Latency } from '../../../src/ports/latency.ts'
import type { UsageRow } from '../api/types.ts'

/** What some rows come to. */
export interface Sum {
  readonly calls: number
  readonly requests: number
  readonly errors: number
  readonly refusals: number
  /** Milliseconds that nodes took. */
  readonly upstreamMs: number
  /** Calls by how long nodes took. */
  readonly latency: Latency
  /** Refused calls by reason, the most first; empty where rows do not tell them apart. */
  readonly reasons: readonly (readonly [reason: string, refusals: number])[]
}

/** The sum of rows. */
export function sumOf(rows: readonly UsageRow[]): Sum {
  const add = (of: (row: UsageRow) => number | undefined): number =>
    rows.reduce((total, row) => total + (of(row) ?? 0), 0)
  const reasons = new Map<string, number>()
  for (const { refusalsByReason = {} } of rows)
    for (const [reason, count] of Object.entries(refusalsByReason))
      reasons.set(reason, (reasons.get(reason) ?? 0) + count)
  return {
    calls: add(({ calls }) => calls),
    requests: add(({ requests }) => requests),
    errors: add(({ errors }) => errors),
    refusals: add(({ refusals }) => refusals),
    upstreamMs: add(({ upstreamMs }) => upstreamMs),
    latency: BUCKETS.map(name => add(({ latency }) => latency?.buckets[name])),
    reasons: [...reasons].sort(([, a], [, b]) => b - a),
  }
}

/** Calls that waited for no node; null where it is not known how long nodes took, as in what older versions have recorded. */
export function withoutNode({ calls, upstreamMs, latency }: Sum): number | null {
  const waited = latency.reduce((sum, count) => sum + count, 0)
  return waited === 0 && upstreamMs > 0 ? null : Math.max(0, calls - waited)
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
