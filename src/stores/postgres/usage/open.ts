/** Everything of usage that is kept in PostgreSQL, for the one process of a machine that has its ledger. Loaded only where gateway.yaml has `postgres`. */
import type { PostgresConfig } from '../../../config/fleet.ts'
import type { Ledger } from '../../../ports/ledger.ts'
import { StoreUnavailable } from '../../../ports/store-unavailable.ts'
import { LedgerChanges } from '../../sqlite/usage/reports/changes.ts'
import type { UsageDatabase } from '../../sqlite/usage/database.ts'
import { ReportReader } from '../../sqlite/usage/reports/report.ts'
import { Postgres } from '../postgres.ts'
import type { Query } from '../postgres.ts'
import { openSchema } from '../schema.ts'
import { FleetLedger } from './fleet-ledger.ts'
import { Heartbeat } from './heartbeat.ts'
import type { NodeState } from './nodes.ts'
import { OthersUsage } from './others.ts'
import { makeDays, makePartitions } from './partitions.ts'
import { rollUpNodes } from './roll-up.ts'
import { Spool } from './spool.ts'
import type { SpoolEvents } from './spool-parts.ts'

/** How often the tables are looked after, in milliseconds, and how long a statement of that may take. */
const HOUSEKEEPING = 10 * 60_000
const PATIENCE = 60_000
/** How often what others have used of quotas is read, in milliseconds. */
const OTHERS = 30_000

/** What it works with. */
export interface UsageParts {
  readonly postgres: Postgres
  readonly config: PostgresConfig
  /** Whether a connection leads to the database whose accounts this gateway has. */
  readonly isOurs: (query: Query) => Promise<boolean>
  readonly database: UsageDatabase
  /** This machine's ledger, and what brings all that was charged in this process into its tables. */
  readonly own: Ledger
  /** Resolves when the ledger has what killed processes have left: on a copy of a data directory that is not this machine's to report. */
  readonly complete: Promise<void>
  readonly gather: () => Promise<void>
  readonly state: () => NodeState
  readonly events: SpoolEvents & {
    /** Looking after the tables failed; it is tried again. */
    housekeeping(error: Error): void
    /** Another gateway is there under this one's name. */
    named(id: string): void
  }
}

/** Usage of all gateways, open. */
export interface OpenUsage {
  readonly ledger: FleetLedger
  readonly spool: Spool
  readonly heartbeat: Heartbeat
  readonly others: OthersUsage
  close(): Promise<void>
}

/** Opens it; rejects where the tables are those of another version. A PostgreSQL that is away is waited for meanwhile. */
export async function openUsage(parts: UsageParts): Promise<OpenUsage> {
  const { postgres, config, database, own, state, events } = parts
  const changes = new LedgerChanges(database.database)
  const started = parts.complete.then(() => {
    changes.start()
  })
  started.catch(() => undefined)
  const reader = new ReportReader(database.file)
  const slow = new Postgres({ ...config, pool: 1, timeout: PATIENCE }, parts.isOurs)
  let isReady = false
  const prepare = async (): Promise<void> => {
    if (isReady) return
    await openSchema(postgres)
    await makePartitions(postgres, Date.now())
    isReady = true
  }
  const gather = async (): Promise<void> => {
    await started
    await parts.gather()
  }
  const spool = new Spool({ postgres, changes, reader, prepare, gather, state, every: config.spool, events })
  const heartbeat = new Heartbeat({
    postgres,
    changes,
    spool,
    state,
    named: id => {
      events.named(id)
    },
  })
  const ledger = new FleetLedger({ postgres, config, spool, own })
  const others = new OthersUsage(postgres, () => changes.node.id)
  const refresh = setInterval(() => void others.refresh().catch(() => undefined), OTHERS).unref()
  spool.whenSent(() => void others.refresh().catch(() => undefined))
  let housekeeping: Promise<void> | null = null
  const lookAfter = (): void => {
    housekeeping ??= lookAfterTables(slow, () => isReady)
      .catch((error: unknown) => {
        if (!(error instanceof StoreUnavailable)) events.housekeeping(error as Error)
      })
      .finally(() => {
        housekeeping = null
      })
  }
  const timer = setInterval(lookAfter, HOUSEKEEPING).unref()
  await prepare().catch((error: unknown) => {
    if (!(error instanceof StoreUnavailable)) throw error
  })
  // What was there before may take its time.
  void spool
    .flush()
    .then(() => heartbeat.beat())
    .then(lookAfter)
    .catch(() => undefined)
  return {
    ledger,
    spool,
    heartbeat,
    others,
    close: async () => {
      clearInterval(timer)
      clearInterval(refresh)
      heartbeat.close()
      await ledger.close()
      await spool.close()
      reader.close()
      await housekeeping
      await slow.close()
    },
  }
}

async function lookAfterTables(postgres: Postgres, isReady: () => boolean): Promise<void> {
  if (!isReady()) return
  // What is final is so for all machines: the clock of one that is ahead would end hours that they still write.
  const [clock] = await postgres.query<{ now: number }>(
    'SELECT (extract(epoch FROM now()) * 1000)::float8 AS now',
  )
  const { now } = clock!
  await makePartitions(postgres, now)
  await rollUpNodes(postgres, now)
  while (await makeDays(postgres, now));
}
