/** Machines of a fleet, as far as they charge and report: each with a data directory of its own. */
import { Postgres } from '../../src/stores/postgres/postgres.ts'
import { openSchema } from '../../src/stores/postgres/schema.ts'
import { Spool } from '../../src/stores/postgres/usage/spool.ts'
import type { PostgresConfig } from '../../src/config/fleet.ts'
import type { NodeState } from '../../src/stores/postgres/usage/nodes.ts'
import { LATENCY_SUMS } from '../../src/stores/sqlite/usage/columns.ts'
import type { LateUsage } from '../../src/stores/sqlite/usage/reports/changes.ts'
import { LedgerChanges } from '../../src/stores/sqlite/usage/reports/changes.ts'
import { openUsageDatabase } from '../../src/stores/sqlite/usage/database.ts'
import type { UsageDatabase } from '../../src/stores/sqlite/usage/database.ts'
import { Ledger } from '../../src/stores/sqlite/usage/ledger.ts'
import { ReportReader } from '../../src/stores/sqlite/usage/reports/report.ts'

/** The configuration of tests: reports are sent by hand, unless `spool` says how often. */
export function postgresConfig(url: string, changes: Partial<PostgresConfig> = {}): PostgresConfig {
  return {
    url,
    schema: 'tollgate',
    pool: 4,
    timeout: 5_000,
    spool: 3_600_000,
    accountsMaxAge: null,
    ...changes,
  }
}

/** Connections of a test to a server, with the schema. */
export async function connectTo(
  t: { teardown(done: () => unknown): void },
  url: string,
  changes: Partial<PostgresConfig> = {},
): Promise<Postgres> {
  const postgres = new Postgres(postgresConfig(url, changes))
  t.teardown(() => postgres.close())
  await openSchema(postgres, true)
  return postgres
}

export const stateOf = (name: string): NodeState => ({
  name,
  version: 'v1',
  sharedVersion: 's1',
  info: { spoolLagSeconds: 0, accountsAgeSeconds: null, clockSkewSeconds: null, fenced: false, reload: null },
})

/** One charge. */
export interface Charged {
  readonly account?: string
  readonly endpoint?: string
  readonly method?: string
  readonly network?: string
  readonly plan?: string
  readonly units?: number
  /** Milliseconds; the hour and the window are its. */
  readonly now?: number
  readonly error?: boolean
  readonly bytesOut?: number
  /** Milliseconds that an upstream took; 0 where there was none. */
  readonly ms?: number
}

/** Yesterday at 10:30 in UTC: an hour that is not final yet. */
export const NOW = (Math.floor(Date.now() / 86_400_000) - 1) * 86_400_000 + 10.5 * 3_600_000
const DAY = 86_400

/** One machine, while it runs. */
export class Machine {
  readonly database: UsageDatabase
  readonly ledger: Ledger
  readonly changes: LedgerChanges
  readonly spool: Spool
  readonly heard: string[] = []
  readonly late: LateUsage[] = []
  readonly #reader: ReportReader

  constructor(dir: string, postgres: Postgres, { name = 'one', every = 3_600_000 } = {}) {
    const none = (): void => undefined
    this.database = openUsageDatabase(dir)
    this.ledger = new Ledger(this.database, {
      committed: none,
      recovered: none,
      lost: none,
      failed: error => this.heard.push(error.message),
      delayed: (_, error) => this.heard.push(error.message),
    })
    this.changes = new LedgerChanges(this.database.database)
    this.changes.start()
    this.#reader = new ReportReader(this.database.file)
    this.spool = new Spool({
      postgres,
      changes: this.changes,
      reader: this.#reader,
      every,
      prepare: () => Promise.resolve(),
      gather: () => this.ledger.folded(),
      state: () => stateOf(name),
      events: {
        fenced: () => this.heard.push('fenced'),
        forked: () => this.heard.push('forked'),
        failed: () => this.heard.push('failed'),
        recovered: () => this.heard.push('recovered'),
        late: usage => this.late.push({ ...usage }),
      },
    })
  }

  charge({
    account = 'acc_1',
    endpoint = 'ep_1',
    method = 'eth_call',
    network = 'eth',
    ...rest
  }: Charged = {}): void {
    const { plan = 'free', units = 1, now = NOW, error = false, bytesOut = 10, ms = 2 } = rest
    const payer = { account: { id: account, plan }, endpoint: { id: endpoint, network } }
    const window = Math.floor(now / 1000 / DAY) * DAY
    this.ledger.charging.charge(payer, method, units, window, now).settle({ error, bytesOut, upstreamMs: ms })
  }

  refuse(method: string, reason: string, { endpoint = 'ep_1', now = NOW } = {}): void {
    const payer = { account: { id: 'acc_1', plan: 'free' }, endpoint: { id: endpoint, network: 'eth' } }
    this.ledger.charging.refused(payer, method, reason, now)
  }

  /** Ends it in order, with or without a last report. */
  async stop(isSent = true): Promise<void> {
    if (isSent) await this.spool.close()
    this.ledger.close()
    this.#reader.close()
  }
}

/** What PostgreSQL holds, over all nodes. */
export async function sumsIn(
  postgres: Postgres,
): Promise<Record<'usage' | 'total' | 'quota_window', number>> {
  const [sums] = await postgres.query<Record<'usage' | 'total' | 'quota_window', number>>(`SELECT
    (SELECT coalesce(sum(requests), 0) FROM usage)::bigint AS usage,
    (SELECT coalesce(sum(requests), 0) FROM total)::bigint AS total,
    (SELECT coalesce(sum(requests), 0) FROM quota_window)::bigint AS quota_window`)
  return sums!
}

/** Calls by how long upstreams took, over all nodes; the buckets without any are left out. */
export async function latencyIn(postgres: Postgres): Promise<Readonly<Record<string, number>>> {
  const sums = LATENCY_SUMS.map(sum => `'${sum}', sum(${sum})`).join(', ')
  const [row] = await postgres.query<{ latency: Readonly<Record<string, number>> }>(
    `SELECT jsonb_strip_nulls(jsonb_build_object(${sums})) AS latency FROM usage`,
  )
  return row!.latency
}
