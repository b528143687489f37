import type { Payer, QuotaState } from '../../../src/ports/limits.ts'
import { openUsageDatabase } from '../../../src/stores/sqlite/usage/database.ts'
import type { UsageDatabase } from '../../../src/stores/sqlite/usage/database.ts'
import type { UsageEvents } from '../../../src/stores/sqlite/usage/events.ts'
import { Ledger } from '../../../src/stores/sqlite/usage/ledger.ts'
import { openUsageReader } from '../../../src/stores/sqlite/usage/reader.ts'
import type {
  DetailedRow,
  UsageDetail,
  UsageQuery,
  UsageReader,
  UsageRow,
} from '../../../src/ports/ledger.ts'

import { Meter } from '../../support/meter.ts'
import type { Admission } from '../../support/meter.ts'

/** A plan with a rate and a quota. */
export const plan = {
  name: 'free',
  tiers: ['any'],
  rate: { perSecond: 100, burst: 1000 },
  quota: { requests: 50, every: 86_400_000 },
  maxBatch: 10,
  alerts: null,
  managementKeys: 'all' as const,
  ws: { connections: 1, subscriptions: 1 },
}
export const payer: Payer = {
  account: { id: 'acc_1', plan: 'free', createdAt: 0 },
  endpoint: { id: 'ep_1', network: 'eth', dailyLimit: null, limitedSince: 0 },
  plan,
  endpointRate: null,
}
export const NOW = 1_800_000_000_000

/** A ledger with its meter, and what could not be written. */
export interface Parts {
  readonly database: UsageDatabase
  readonly ledger: Ledger
  readonly meter: Meter
  readonly failures: Error[]
}

/** Opens the ledger of a directory. */
export function open(dir: string): Parts {
  const failures: Error[] = []
  const database = openUsageDatabase(dir)
  const ledger = new Ledger(
    database,
    eventsTo(error => failures.push(error)),
  )
  return { database, ledger, meter: new Meter(ledger), failures }
}

/** Lets nothing be written; returns what ends that. */
export function closeToWrites({ database }: UsageDatabase): () => void {
  database.exec('PRAGMA query_only = ON')
  return () => {
    database.exec('PRAGMA query_only = OFF')
  }
}

/** Events that tell `failed` of whatever goes wrong. */
export function eventsTo(failed: (error: Error) => void): UsageEvents {
  const none = () => undefined
  return { committed: none, recovered: none, failed, delayed: (_, error) => failed(error), lost: failed }
}

/** What was used of a quota that can be read. */
export function usedOf(quota: QuotaState | null | 'unreadable'): number | undefined {
  if (quota === 'unreadable') throw new Error('the quota cannot be read')
  return quota?.used
}

/** The admission; a refusal fails the test. */
export function admitted(value: ReturnType<Meter['admit']>): Admission {
  if ('reason' in value) throw new Error(value.reason)
  return value
}

/** What a directory holds. */
export interface Reading {
  rows(query: UsageQuery): (UsageRow & UsageDetail)[]
  detailedRows(query: UsageQuery): DetailedRow[]
  /** A row for each reason. */
  refusals(query: UsageQuery): RefusalRow[]
}

/** How often calls were refused for one reason. */
export interface RefusalRow extends Pick<
  UsageRow,
  'time' | 'accountId' | 'endpointId' | 'network' | 'method' | 'refusals'
> {
  readonly reason: string
}

/** Rows and refusals of a directory as another process reads them, whether a ledger is open there or not. */
export function reading(dir: string): Reading {
  const read = <T>(use: (reader: UsageReader) => T): T => {
    const reader = openUsageReader(dir)
    try {
      return use(reader)
    } finally {
      reader.close()
    }
  }
  return {
    rows: query => read(reader => [...reader.rows(query)]),
    detailedRows: query => read(reader => [...reader.detailedRows(query)]),
    refusals: query => read(reader => refusalsOf(reader.detailedRows(query))),
  }
}

/** Rows with their reasons, as a row for each reason. */
export function refusalsOf(rows: Iterable<DetailedRow>): RefusalRow[] {
  return [...rows].flatMap(({ time, accountId, endpointId, network, method, refusalsByReason }) =>
    Object.entries(refusalsByReason).map(([reason, refusals]) => ({
      time,
      accountId,
      endpointId,
      network,
      method,
      reason,
      refusals,
    })),
  )
}
