import type { ShownLatency } from '../../src/ports/latency.ts'
import type { Access } from './access.ts'
import type { Use } from './client-ledger.ts'

/** One row of `service_usage`, or of `tollgate usage`. */
export interface UsageRow {
  readonly endpointId: string
  readonly network: string
  readonly method: string
  readonly calls: number
  readonly requests: number
  readonly errors: number
  readonly refusals: number
}

/** A row of `service_usage` with `detail`, by method. */
interface TimedRow extends Pick<UsageRow, 'method' | 'calls'> {
  readonly latency: ShownLatency | null
}

/** Of an endpoint's methods: how many calls there were, and for how many it is known how long an upstream took. */
export async function timedByMethod(access: Access): Promise<Map<string, { calls: number; timed: number }>> {
  const asked = { by: 'hour', endpointId: access.endpointId, groupBy: ['method'], detail: true }
  const { rows } = (await access.managed('service_usage', [asked])) as { rows: readonly TimedRow[] }
  return new Map(
    rows.map(({ method, calls, latency }) => {
      const timed = Object.values(latency?.buckets ?? {}).reduce((sum, count) => sum + count, 0)
      return [method, { calls, timed }]
    }),
  )
}

/** What an endpoint was charged, as its account is told, by method; methods that were only refused are left out. */
export async function meteredByMethod(access: Access): Promise<Map<string, Use>> {
  const { rows } = await access.managed('service_usage', [{ by: 'hour', endpointId: access.endpointId }])
  return sumByMethod(rows)
}

/** Sums rows by method. */
export function sumByMethod(rows: readonly UsageRow[]): Map<string, Use> {
  const uses = new Map<string, Use>()
  for (const { method, calls, requests } of rows) {
    if (calls === 0 && requests === 0) continue
    const use = uses.get(method) ?? { calls: 0, requests: 0 }
    uses.set(method, { calls: use.calls + calls, requests: use.requests + requests })
  }
  return uses
}
