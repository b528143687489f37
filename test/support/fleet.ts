/** Gateways that share a PostgreSQL, with a data directory each. */
import pg from 'pg'
import { Access } from './access.ts'
import { run } from './cli.ts'
import type { ConfigOptions } from './config-files.ts'
import { prepareGateway, type Gateway } from './gateway.ts'
import { startPostgres, type Server } from './servers.ts'
import type { Teardown } from './teardown.ts'
import { until } from './until.ts'

/** What all machines have in their environment. */
export const FLEET_ENV = { TOLLGATE_MASTER_KEY: Buffer.alloc(32, 7).toString('base64') }

/** Requests by table: all three agree. */
export type Sums = Readonly<Record<'usage' | 'total' | 'quota_window', number>>

/** The machines of a test, and the ways in of one account, one on each. */
export interface Fleet {
  readonly postgres: Server
  readonly gateways: readonly Gateway[]
  readonly accesses: readonly Access[]
  /** What PostgreSQL holds of requests, over all nodes. */
  sums(): Promise<Sums>
  query(sql: string): Promise<any[]>
}

/** What a test may decide about its account and gateway.yaml's `postgres`. */
export interface FleetOptions {
  readonly plan?: string
  readonly network?: string
  readonly postgres?: Readonly<Record<string, unknown>>
  /** The server, where it is there already. */
  readonly server?: Server
  /** Sees to each gateway before it is started. */
  readonly prepare?: (gateway: Gateway, machine: number) => Promise<void>
  /** What starts the program of each machine somewhere else (gateway.ts). */
  readonly within?: (machine: number) => readonly string[]
}

/** Starts them; `machines` is what is different in gateway.yaml of each. */
export async function startFleet(
  t: Teardown,
  config: ConfigOptions,
  machines: readonly Readonly<Record<string, unknown>>[],
  { plan = 'paid', network = 'alpha', postgres = {}, ...options }: FleetOptions = {},
): Promise<Fleet> {
  const server = options.server ?? (await startPostgres(t))
  const env = FLEET_ENV
  const gateways = await Promise.all(
    machines.map((own, i) =>
      prepareGateway(
        t,
        {
          ...config,
          gateway: {
            ...config.gateway,
            node: { name: `machine-${i + 1}` },
            ...own,
            postgres: { spool: '500ms', url: server.url, ...postgres, ...(own['postgres'] ?? {}) },
          },
        },
        { env, ...(options.within && { within: options.within(i) }) },
      ),
    ),
  )
  for (const [machine, gateway] of gateways.entries()) await options.prepare?.(gateway, machine)
  await Promise.all(gateways.map(gateway => gateway.start()))
  const made = await run(
    ['account', 'create', 'acme', '--plan', plan, '--chain', network, '--json', '--config', gateways[0]!.dir],
    env,
  )
  const { accountId, endpoint } = JSON.parse(made.stdout) as {
    accountId: string
    endpoint: { endpointId: string; apiKey: string }
  }
  const { endpointId, apiKey } = endpoint
  const accesses = gateways.map(gateway => new Access(gateway, network, apiKey, endpointId, accountId))
  for (const access of accesses)
    await until('the key is known', async () => {
      const { result } = await access.call('service_account')
      return result !== undefined
    })
  const query = async (sql: string): Promise<any[]> => {
    const client = new pg.Client({ connectionString: server.url, options: '-c search_path=tollgate' })
    await client.connect()
    try {
      return (await client.query(sql)).rows
    } finally {
      await client.end()
    }
  }
  return {
    postgres: server,
    gateways,
    accesses,
    query,
    sums: async () => {
      const [row] = await query(`SELECT (SELECT coalesce(sum(requests), 0) FROM usage)::float8 AS usage,
        (SELECT coalesce(sum(requests), 0) FROM total)::float8 AS total,
        (SELECT coalesce(sum(requests), 0) FROM quota_window)::float8 AS quota_window`)
      return row as Sums
    },
  }
}
