/** Sends what a data directory holds of usage to PostgreSQL, where no gateway runs on it: of a machine that is gone, or before it first shares its usage. */
import { hostname } from 'node:os'
import { LedgerChanges } from '../../sqlite/usage/reports/changes.ts'
import { openUsageDatabase } from '../../sqlite/usage/database.ts'
import { LeftJournals } from '../../sqlite/usage/journals/left.ts'
import { Ledger } from '../../sqlite/usage/ledger.ts'
import { lockDataDir } from '../../sqlite/usage/lock.ts'
import { ReportReader } from '../../sqlite/usage/reports/report.ts'
import type { Postgres } from '../postgres.ts'
import type { NodeState } from './nodes.ts'
import { makePartitions } from './partitions.ts'
import { Spool } from './spool.ts'

/** What was sent. */
export interface SentLedger {
  readonly rows: number
  /** The id under which it was reported. */
  readonly node: string
  /** Another process has reported as this node since: nothing of it was new. */
  readonly isForked: boolean
}

/** All of it, with the journals of workers that were killed; twice changes nothing. Rejects where a gateway runs on it, or PostgreSQL is away. */
export async function sendLedger(
  dataDir: string,
  postgres: Postgres,
  { version, sharedVersion }: Pick<NodeState, 'version' | 'sharedVersion'>,
): Promise<SentLedger> {
  const lock = lockDataDir(dataDir)
  const failures: unknown[] = []
  try {
    const database = openUsageDatabase(dataDir)
    const failed = (error: unknown): void => {
      failures.push(error)
    }
    const none = (): void => undefined
    const ledger = new Ledger(database, {
      ...{ committed: none, recovered: none, failed, lost: failed },
      delayed: (_, error) => {
        failed(error)
      },
    })
    new LeftJournals(database, dataDir, (_, error) => {
      failed(error)
    }).close()
    const changes = new LedgerChanges(database.database)
    const rows = changes.waiting
    const [known] = await postgres.query<{ name: string }>('SELECT name FROM node WHERE id = $1', [
      changes.node.id,
    ])
    const name = known?.name ?? hostname()
    changes.start()
    const reader = new ReportReader(database.file)
    const sent = { isForked: false }
    const info = {
      spoolLagSeconds: 0,
      accountsAgeSeconds: null,
      clockSkewSeconds: null,
      fenced: false,
      reload: null,
    }
    const spool = new Spool({
      ...{ postgres, changes, reader, every: 3_600_000 },
      prepare: () => makePartitions(postgres, Date.now()),
      gather: () => Promise.resolve(),
      state: () => ({ name, version, sharedVersion, info }),
      events: {
        ...{ fenced: none, failed: none, recovered: none },
        forked: () => {
          sent.isForked = true
        },
      },
    })
    try {
      await spool.flush()
      await spool.close()
    } finally {
      ledger.close()
      reader.close()
    }
    const [failure] = failures
    if (failure !== undefined) throw failure as Error
    return { rows: sent.isForked ? 0 : rows, node: changes.node.id, ...sent }
  } finally {
    lock.release()
  }
}
