/** Columns of the table `usage`, here and in PostgreSQL. */
import { BUCKETS } from '../../../ports/latency.ts'

export const PLAIN_SUMS = ['calls', 'requests', 'errors', 'refusals', 'bytes_out', 'upstream_ms'] as const

/** Calls by bucket of upstream latency. */
export const LATENCY_SUMS: readonly string[] = BUCKETS.map(name => `ms_${name}`)

/** All that add up. */
export const USAGE_SUMS: readonly string[] = [...PLAIN_SUMS, ...LATENCY_SUMS]

/** Whether a column counts calls of a latency bucket: PostgreSQL has null in place of zero there. */
export function isLatency(column: string): boolean {
  return LATENCY_SUMS.includes(column)
}
