import { join } from 'node:path'
import { bucketOf, noLatency } from '../../../src/ports/latency.ts'
import { newCounter } from '../../../src/stores/sqlite/usage/counters.ts'
import { openUsageDatabase } from '../../../src/stores/sqlite/usage/database.ts'
import type { Gateway } from '../../support/gateway.ts'

/** What some endpoint used of some method in the hour so many hours ago. */
export interface PastUsage {
  readonly account: string
  readonly endpoint: string
  readonly network: string
  readonly method: string
  readonly hoursAgo: number
  readonly calls: number
  readonly cost?: number
  readonly errors?: number
  /** Milliseconds that nodes took for a call. */
  readonly ms?: number
  /** Refused calls by reason. */
  readonly refused?: Readonly<Record<string, number>>
}

/** How many hours ago some day of the calendar was at noon, UTC; months from 0, and before the first are those of the year before. */
export function sinceNoon(year: number, month: number, day: number): number {
  return Math.floor(Date.now() / 3_600_000) - Date.UTC(year, month, day, 12) / 3_600_000
}

/** Writes usage of the past into the ledger of a gateway that is not running; `window` is the start of its quota window. */
export function writePastUsage(gateway: Gateway, rows: readonly PastUsage[], window = 0): void {
  const now = Math.floor(Date.now() / 3_600_000) * 3600
  const database = openUsageDatabase(join(gateway.dir, 'data'))
  try {
    database.fold(
      rows.map(({ hoursAgo, calls, cost = 1, errors = 0, ms = 0, refused = {}, ...key }) => {
        const counter = newCounter({ ...key, plan: 'free', hour: now - hoursAgo * 3600, window })
        const reasons = new Map(Object.entries(refused))
        const refusals = [...reasons.values()].reduce((sum, count) => sum + count, 0)
        const latency = noLatency()
        if (ms > 0) latency[bucketOf(ms)] = calls
        const used = { calls, requests: calls * cost, errors, upstreamMs: calls * ms, latency }
        return Object.assign(counter, used, refusals === 0 ? {} : { refusals, reasons })
      }),
    )
  } finally {
    database.close()
  }
}
