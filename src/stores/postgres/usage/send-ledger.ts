/** Sends what a data directory holds of usage to PostgreSQL, where no gateway runs on it: of a machine that is gone, or before it first shares its usage. */
import { existsSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { LedgerChanges } from '../../sqlite/usage/reports/changes.ts'
import { openUsageDatabase } from '../../sqlite/usage/database.ts'
import type { UsageDatabase } from '../../sqlite/usage/database.ts'
import { journalsIn, LeftJournals } from '../../sqlite/usage/journals/left.ts'
import { Ledger } from '../../sqlite/usage/ledger.ts'
import { ReportReader } from '../../sqlite/usage/reports/report.ts'
import { TRACKED } from '../../sqlite/usage/reports/tracked.ts'
import { journalFile } from '../../sqlite/usage/schema.ts'
import type { Postgres } from '../postgres.ts'
import { hasReported } from './nodes.ts'
import type { NodeState } from './nodes.ts'
import { makePartitions } from './partitions.ts'
import { Spool } from './spool.ts'
import type { SpoolEvents } from './spool-parts.ts'

/** What the machine says of itself, and who hears how far it has come. */
export interface Sending extends Pick<NodeState, 'version' | 'sharedVersion'> {
  /** Default: the name under which it has reported, or this machine's. */
  readonly name?: string | null
  /** Hears how many rows of how many were sent. */
  readonly progress?: (done: number, of: number) => void
  /** Hears of usage that came too late. */
  readonly late?: SpoolEvents['late']
}

/** What was sent. */
export interface SentLedger {
  /** Rows that PostgreSQL lacked, of all that there are. */
  readonly rows: number
  readonly all: number
  /** The id under which it was reported; null where there is no ledger. */
  readonly node: string | null
  /** Another process has reported as this node since: nothing of it was new. */
  readonly isForked: boolean
}

/**
 * All of it, with the journals of workers that were killed; twice changes nothing. The caller holds the lock of the directory. Rejects where a worker
 * still charges calls there, or PostgreSQL is away.
 */
export async function sendLedger(dataDir: string, postgres: Postgres, sending: Sending): Promise<SentLedger> {
  if (!existsSync(join(dataDir, journalFile.name)) && journalsIn(dataDir).length === 0)
    return { rows: 0, all: 0, node: null, isForked: false }
  const { failures, ledger, database } = openLedger(dataDir)
  const reader = new ReportReader(database.file)
  try {
    const left = new LeftJournals(database, dataDir, (_, error) => failures.push(error))
    await left.look()
    await left.close()
    throwFirst(failures)
    if (journalsIn(dataDir).length > 0)
      throw new Error(`workers of a gateway still run on ${dataDir}: wait for their end, and run this again`)
    const changes = new LedgerChanges(database.database)
    const all = countRows(database)
    if (!changes.isWaiting && (await hasReported(postgres, changes.node)))
      return { rows: 0, all, node: changes.node.id, isForked: false }
    const sent = await report(postgres, { changes, reader }, sending)
    throwFirst(failures)
    return { ...sent, all }
  } finally {
    ledger.close()
    reader.close()
  }
}

function openLedger(dataDir: string) {
  const failures: unknown[] = []
  const failed = (error: unknown): void => void failures.push(error)
  const none = (): void => undefined
  const database = openUsageDatabase(dataDir)
  const ledger = new Ledger(database, {
    committed: none,
    recovered: none,
    failed,
    lost: failed,
    delayed: (_, error) => {
      failed(error)
    },
  })
  return { failures, database, ledger }
}

function countRows({ database }: UsageDatabase): number {
  const counts = TRACKED.map(({ table }) => `(SELECT count(*) FROM ${table})`).join(' + ')
  return (database.prepare(`SELECT ${counts} AS rows`).get() as { rows: number }).rows
}

function throwFirst([failure]: readonly unknown[]): void {
  if (failure !== undefined) throw failure as Error
}

interface Reporting {
  readonly changes: LedgerChanges
  readonly reader: ReportReader
}

async function report(
  postgres: Postgres,
  { changes, reader }: Reporting,
  { version, sharedVersion, name, progress = () => undefined, late = () => undefined }: Sending,
): Promise<Omit<SentLedger, 'all'>> {
  const waiting = changes.waiting
  let done = 0
  const sent = { isForked: false }
  const known = name ?? (await nameOf(postgres, changes.node.id)) ?? hostname()
  changes.start()
  const info = {
    spoolLagSeconds: 0,
    accountsAgeSeconds: null,
    clockSkewSeconds: null,
    fenced: false,
    reload: null,
  }
  const none = (): void => undefined
  const spool = new Spool({
    postgres,
    changes,
    reader,
    every: 3_600_000,
    prepare: () => makePartitions(postgres, Date.now()),
    gather: () => Promise.resolve(),
    state: () => ({ name: known, version, sharedVersion, info }),
    sent: more => {
      progress((done += more), waiting)
    },
    events: {
      fenced: none,
      failed: none,
      recovered: none,
      late,
      forked: () => {
        sent.isForked = true
      },
    },
  })
  try {
    await spool.flush()
  } finally {
    await spool.close()
  }
  return { rows: sent.isForked ? 0 : done, node: changes.node.id, ...sent }
}

async function nameOf(postgres: Postgres, id: string): Promise<string | undefined> {
  const [known] = await postgres.query<{ name: string }>('SELECT name FROM node WHERE id = $1', [id])
  return known?.name
}
