/** Columns of the table `usage`, here and in PostgreSQL. */
import { BUCKETS } from '../../../ports/latency.ts'

/** Those that there were before calls were counted by how long upstreams took. */
export const PLAIN_SUMS = ['calls', 'requests', 'errors', 'refusals', 'bytes_out', 'upstream_ms'] as const

/** Calls by bucket. */
export const LATENCY_SUMS: readonly string[] = BUCKETS.map(name => `ms_${name}`)

/** All that add up. */
export const USAGE_SUMS: readonly string[] = [...PLAIN_SUMS, ...LATENCY_SUMS]
