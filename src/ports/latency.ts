/** How long upstreams took, as counts of calls by milliseconds: they add up over hours, endpoints and gateways, and percentiles are estimated from the sums. */

/** Milliseconds: a call is counted under the first bound that it does not exceed, one that took longer than all of them under `more`. Each is a
 * column of the ledger, so they stay what they are. */
export const BOUNDS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000] as const

/** The names of the buckets. */
export const BUCKETS: readonly string[] = [...BOUNDS.map(String), 'more']

/** Calls by bucket, in the order of `BUCKETS`. A call that no upstream was waited for is in none. */
export type Latency = readonly number[]

/** How long upstreams took, as readers of usage are told. */
export interface ShownLatency {
  /** Milliseconds that half of the calls, and 95 of 100, did not exceed: estimated. */
  readonly p50: number
  readonly p95: number
  /** Calls by bucket; those without any are left out. */
  readonly buckets: Readonly<Record<string, number>>
}

/** Counts of no call. */
export function noLatency(): number[] {
  return BUCKETS.map(() => 0)
}

/** The bucket of a call. */
export function bucketOf(ms: number): number {
  let bucket = 0
  while (bucket < BOUNDS.length && ms > BOUNDS[bucket]!) bucket += 1
  return bucket
}

/**
 * Milliseconds that this share of the calls did not exceed; null without calls. Calls are taken to be spread evenly over their bucket, so the estimate is
 * in the bucket of the true value, and off by less than its width. Of calls that took longer than all bounds only the last bound is known.
 */
export function percentile(latency: Latency, share: number): number | null {
  const calls = latency.reduce((sum, count) => sum + count, 0)
  if (calls === 0) return null
  let rank = share * calls
  for (const [i, count] of latency.entries()) {
    const bound = BOUNDS[i]
    if (bound === undefined) break
    if (count > 0 && rank <= count) {
      const from = BOUNDS[i - 1] ?? 0
      return tenths(from + ((bound - from) * rank) / count)
    }
    rank -= count
  }
  return BOUNDS.at(-1)!
}

/** As readers are told; null where no call was counted. */
export function shownLatency(latency: Latency): ShownLatency | null {
  const [p50, p95] = [percentile(latency, 0.5), percentile(latency, 0.95)]
  if (p50 === null || p95 === null) return null
  const counted = BUCKETS.map((name, i) => [name, latency[i] ?? 0] as const).filter(([, calls]) => calls > 0)
  return { p50, p95, buckets: Object.fromEntries(counted) }
}

const tenths = (ms: number): number => Math.round(ms * 10) / 10
