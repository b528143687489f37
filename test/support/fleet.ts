/** Gateways that share a PostgreSQL: a data directory each, and the same accounts. */
import { cp, mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { Access } from './access.ts'
import { createAccess } from './accounts.ts'
import type { ConfigOptions } from './config-files.ts'
import { prepareGateway, type Gateway } from './gateway.ts'
import { startPostgres, type Server } from './servers.ts'
import type { Teardown } from './teardown.ts'

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
}

/** Starts them; `machines` is what is different in gateway.yaml of each. */
export async function startFleet(
  t: Teardown,
  config: ConfigOptions,
  machines: readonly Readonly<Record<string, unknown>>[],
  { plan = 'paid', network = 'alpha', postgres = {} }: FleetOptions = {},
): Promise<Fleet> {
  const server = await startPostgres(t)
  const env = { TOLLGATE_MASTER_KEY: Buffer.alloc(32, 7).toString('base64') }
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
            postgres: { spool: '500ms', ...postgres, ...(own['postgres'] ?? {}), url: server.url },
          },
        },
        { env },
      ),
    ),
  )
  const [first, ...others] = gateways as [Gateway, ...Gateway[]]
  await first.start()
  const access = await createAccess(first, plan, network, env)
  await first.stop()
  for (const { dir } of others) {
    await mkdir(join(dir, 'data'), { mode: 0o700 })
    for (const file of await readdir(join(first.dir, 'data')))
      if (file.startsWith('accounts.db')) await cp(join(first.dir, 'data', file), join(dir, 'data', file))
  }
  await Promise.all(gateways.map(gateway => gateway.start()))
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
    ...{ postgres: server, gateways, query },
    accesses: gateways.map(
      gateway => new Access(gateway, network, access.key, access.endpointId, access.accountId),
    ),
    sums: async () => {
      const [row] = await query(`SELECT (SELECT coalesce(sum(requests), 0) FROM usage)::float8 AS usage,
        (SELECT coalesce(sum(requests), 0) FROM total)::float8 AS total,
        (SELECT coalesce(sum(requests), 0) FROM quota_window)::float8 AS quota_window`)
      return row as Sums
    },
  }
}
