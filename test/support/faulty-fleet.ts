/** Two machines of two workers on PostgreSQL and Redis, with a way of its own to each for every machine, under load and under audit. */
import { randomInt } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Test } from 'tap'
import { rollUpNodes } from '../../src/stores/postgres/usage/roll-up.ts'
import { total, type Use, type UseByMethod } from './client-ledger.ts'
import { Machine, connectTo } from './fleet-ledger.ts'
import { allCapabilities, type PlanYaml } from './config-files.ts'
import { FleetAudit } from './fleet-audit.ts'
import { FleetLoad } from './fleet-load.ts'
import { startFleet, type Fleet } from './fleet.ts'
import type { Gateway } from './gateway.ts'
import { mixedCosts, mixedMethods } from './ledger-load.ts'
import type { Island, Servers } from './island.ts'
import { metric } from './metrics.ts'
import { startPostgresProxy, type PostgresProxy } from './postgres-proxy.ts'
import { Random } from './random.ts'
import { startRedisProxy, type RedisProxy } from './redis-proxy.ts'
import { startSocketNode } from './scripted-socket-node.ts'
import { startPostgres, startRedis, type Server } from './servers.ts'
import { loopback, startStreamProxy } from './stream-proxy.ts'
import { until } from './until.ts'
import { crewOf, isAlive, type Crew } from './workers.ts'

const MACHINES = 2
/** Of each machine. */
const WORKERS = 2
/** Unless a test says otherwise, in milliseconds. */
export const TIMEOUT = 1_500
/** How soon PostgreSQL has everything once it is there, in milliseconds. */
const COMPLETE = 30_000
/** Units that each machine had charged three days before it first had a PostgreSQL. */
const PAST = 100
const DAY = 86_400_000
/** The machine that may be on an island. */
const ISLAND = 1

/** The plan of the load, `paid`: nothing of it is in its way. */
export const LOADED: PlanYaml = {
  tiers: ['any', 'paid'],
  maxBatch: 100,
  ws: { connections: 50, subscriptions: 100 },
  rate: { perSecond: 100_000, burst: 100_000 },
  quota: { requests: 1_000_000_000, every: '30d' },
}

/** All of it. */
export interface FaultyFleet extends Fleet {
  readonly redis: Server
  readonly random: Random
  readonly load: FleetLoad
  readonly audit: FleetAudit
  /** By machine. */
  readonly toPostgres: readonly PostgresProxy[]
  readonly toRedis: readonly RedisProxy[]
  /** The processes of all machines, once all are there. */
  crews(): Promise<readonly Crew[]>
  /** Starts a machine anew, with more of an environment, once `end` has ended it and none of its processes is left. */
  restart(
    machine: number,
    end: (gateway: Gateway, pids: readonly number[]) => unknown,
    env?: Readonly<Record<string, string>>,
  ): Promise<void>
  /** Waits until PostgreSQL has everything, and holds it to what clients know and to what must be true of it at any moment. */
  hold(t: Test, what: string): Promise<void>
}

/** What a test may decide about them. */
export interface FaultyFleetOptions {
  /** Plans beside that of the load. */
  readonly plans?: Readonly<Record<string, PlanYaml>>
  /** How long a question to PostgreSQL may take, in milliseconds. */
  readonly timeout?: number
  /** Where the second machine is, if it is not here: it has no way to the servers but the island's. */
  readonly island?: Island
}

/** Starts them. */
export async function startFaultyFleet(
  t: Test,
  { plans = {}, timeout = TIMEOUT, island }: FaultyFleetOptions = {},
): Promise<FaultyFleet> {
  const [postgres, redis, node] = await Promise.all([
    startPostgres(t, [], island?.servers.postgres),
    startRedis(t, island?.servers.redis),
    startSocketNode(t, { chainId: 1001 }),
  ])
  const upstream = island === undefined ? new URL(node.url).host : await wayTo(t, node.url, island)
  // The tables are there before the first machine writes to them.
  const tables = await connectTo(t, postgres.url)
  const random = new Random(randomInt(2 ** 32))
  t.comment(`seed ${random.seed}`)
  const known: { load?: FleetLoad } = {}
  const past = PAST * MACHINES
  const audit = await FleetAudit.begin(postgres.url, past, () => past + (known.load?.asked ?? 0))
  t.teardown(() => audit.close())
  const all = Array.from({ length: MACHINES }, (_, i) => i)
  const toPostgres = await Promise.all(
    all.map(i => startPostgresProxy(t, `${postgres.url}?application_name=machine-${i + 1}`)),
  )
  const toRedis = await Promise.all(all.map(() => startRedisProxy(t, redis.port)))
  const fleet = await startFleet(
    t,
    {
      networks: { alpha: { chainId: 1001 } },
      routes: [
        {
          id: 'alpha-a',
          network: 'alpha',
          http: `http://${upstream}`,
          ws: `ws://${upstream}`,
          capabilities: allCapabilities,
        },
      ],
      methods: mixedMethods,
      plans: {
        paid: LOADED,
        ...plans,
      },
      gateway: { workers: WORKERS, timeouts: { drain: '2s', drainIdle: '1s' } },
    },
    all.map(i => {
      const isApart = island !== undefined && i === ISLAND
      const urls = { postgres: toPostgres[i]!.url, redis: toRedis[i]!.url }
      const { postgres: db, redis: store } = isApart ? urlsOn(island, { postgres, redis }) : urls
      return {
        ...(isApart && { listen: `${island.address}:0`, admin: `${island.address}:0` }),
        postgres: { url: db, timeout: `${timeout}ms` },
        redis: { url: store, timeout: '250ms' },
      }
    }),
    {
      server: postgres,
      within: i => (island !== undefined && i === ISLAND ? island.within : []),
      prepare: async ({ dir }) => {
        const data = join(dir, 'data')
        await mkdir(data, { mode: 0o700 })
        const alone = new Machine(data, tables)
        alone.charge({ units: PAST, now: Date.now() - 3 * DAY })
        await alone.stop(false)
      },
    },
  )
  const load = new FleetLoad(fleet.accesses, random)
  known.load = load
  const crews = () => Promise.all(fleet.gateways.map(gateway => crewOf(gateway, WORKERS)))
  await crews()
  const restart: FaultyFleet['restart'] = async (i, end, env) => {
    const gateway = fleet.gateways[i]!
    const { keeper, workers } = await crewOf(gateway, WORKERS)
    const pids = [gateway.pid, keeper, ...workers]
    await end(gateway, pids)
    load.down.add(i)
    await until('nothing of it is left', () => Promise.resolve(pids.every(pid => !isAlive(pid))))
    await gateway.start(env)
    load.down.delete(i)
  }
  return {
    ...fleet,
    redis,
    random,
    load,
    audit,
    toPostgres,
    toRedis,
    crews,
    restart,
    hold: async (t, what) => {
      const known = load.known()
      const least = past + total(known.least).requests
      const begin = performance.now()
      const sums = await until(
        'all usage is reported',
        async () => {
          for (const gateway of fleet.gateways)
            if ((await metric(gateway, 'tollgate_spool_rows').catch(() => 1)) !== 0) return undefined
          const sums = await audit.sums().catch(() => undefined)
          return sums?.agree === true && sums.requests >= least ? sums : undefined
        },
        COMPLETE,
      ).catch(() => audit.sums())
      t.strictSame(outside(sums.uses, known), [], `${what}: what clients know is charged once`)
      t.equal(sums.requests - total(chargedOf(sums.uses)).requests, past, 'and nothing else')
      t.comment(`${sums.requests} units, ${Math.round(performance.now() - begin)} ms later`)
      load.settle(chargedOf(sums.uses))
      // Gateways do that at their start, and every few minutes.
      const { past: final } = await until('hours that are final are added up', async () => {
        await rollUpNodes(tables, Date.now())
        const sums = await audit.sums()
        return sums.rolledUp === sums.past && sums
      })
      t.equal(final, past, 'the sum of hours that are final is what it was')
      t.strictSame(audit.wrong.splice(0), [], 'at every moment PostgreSQL had what was true then')
      t.strictSame(await audit.shared(), [], 'each machine has written its own rows')
      t.strictSame(load.refusals(), {}, 'no call was refused')
    },
  }
}

/** Where a machine that is on an island finds a server of this one, which listens on loopback alone. */
async function wayTo(t: Test, url: string, { outside }: Island): Promise<string> {
  const at = { host: outside, port: 0 }
  const { port } = await startStreamProxy(t, at, loopback(Number(new URL(url).port)), (client, server) => {
    client.pipe(server)
    server.pipe(client)
  })
  return `${outside}:${port}`
}

/** The servers as a machine on an island knows them. */
function urlsOn(
  island: Island,
  servers: Readonly<Record<keyof Servers, Server>>,
): Record<keyof Servers, string> {
  const { postgres, redis } = island.servers
  return {
    postgres: `postgres://tollgate@${postgres}:${servers.postgres.port}/postgres?application_name=machine-${ISLAND + 1}`,
    redis: `redis://${redis}:${servers.redis.port}`,
  }
}

/** What of it clients may have charged: not the past, nor what is free. */
function chargedOf(uses: UseByMethod): UseByMethod {
  return new Map([...uses].filter(([method]) => method in mixedCosts))
}

/** The methods of which more or less is charged than clients know of. */
function outside(uses: UseByMethod, { least, most }: ReturnType<FleetLoad['known']>): readonly string[] {
  const none = { calls: 0, requests: 0 }
  return Object.keys(mixedCosts).flatMap(method => {
    const [from, is, to] = [least, uses, most].map(some => some.get(method) ?? none) as [Use, Use, Use]
    const isWithin = (['calls', 'requests'] as const).every(sum => from[sum] <= is[sum] && is[sum] <= to[sum])
    return isWithin ? [] : [`${method}: ${from.requests} ≤ ${is.requests} ≤ ${to.requests} units`]
  })
}
