/**
 * A machine between which and the servers every packet is lost: nothing is refused, and no connection ends. Its calls go on, nobody else waits for it,
 * and behind it nothing is missing and nothing is there twice.
 */
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import type { Access } from '../support/access.ts'
import { fewMethods } from '../support/few-methods.ts'
import { startFleet } from '../support/fleet.ts'
import type { Gateway } from '../support/gateway.ts'
import { makeIsland, noIslands } from '../support/island.ts'
import { metric, metricIs } from '../support/metrics.ts'
import { noServers, startPostgres, startRedis } from '../support/servers.ts'
import { at, becomes, reasonOf, SOON } from '../support/shared-accounts.ts'
import { loopback, startStreamProxy } from '../support/stream-proxy.ts'
import { until } from '../support/until.ts'

/** Milliseconds that a question to PostgreSQL may take, and what a busy machine may add. */
const TIMEOUT = 1_500
const SLACK = 3_500
/** Milliseconds for which packets are lost: connections are found dead by then, and are not looked for any more that often. */
const LOST = 8_000
/** What tells that a key is known, and costs nothing. */
const FREE = 'service_account'

t.test('a partition', { skip: noServers !== false ? noServers : noIslands(), timeout: 120_000 }, async t => {
  const [postgres, redis] = [await startPostgres(t), await startRedis(t)]
  const islands = [makeIsland(t), makeIsland(t)]
  /** The servers are on loopback: what comes to the address of a link is passed on to them. */
  const passOn = async (host: string, port: number): Promise<number> => {
    const proxy = await startStreamProxy(t, { host, port: 0 }, loopback(port), (client, server) => {
      client.pipe(server)
      server.pipe(client)
    })
    return proxy.port
  }
  const machines = await Promise.all(
    islands.map(async ({ address, servers }) => ({
      listen: `${address}:0`,
      admin: `${address}:0`,
      postgres: {
        url: `postgres://tollgate@${servers}:${await passOn(servers, postgres.port)}/postgres`,
        timeout: `${TIMEOUT}ms`,
      },
      redis: { url: `redis://${servers}:${await passOn(servers, redis.port)}`, timeout: '250ms' },
    })),
  )
  const fleet = await startFleet(
    t,
    {
      networks: { alpha: { chainId: 1001 } },
      routes: [{ id: 'alpha-a', network: 'alpha', http: 'http://127.0.0.1:1' }],
      methods: fewMethods,
      gateway: { workers: 2 },
    },
    machines,
    { server: postgres, within: machine => islands[machine]!.within },
  )
  const [a, b] = fleet.gateways as [Gateway, Gateway]
  const [onA, onB] = fleet.accesses as [Access, Access]
  let served = 0
  /** Calls on both while something happens; each has to be answered. */
  const whileCalled = async (work: () => Promise<void>): Promise<void> => {
    const state = { isOver: false }
    const calling = [onA, onB].map(async access => {
      while (!state.isOver) {
        t.equal((await access.call('eth_chainId')).result, '0x3e9')
        served += 1
        await pause(10)
      }
    })
    try {
      await work()
    } finally {
      state.isOver = true
      await Promise.all(calling)
    }
  }
  const took = async (work: () => Promise<unknown>): Promise<number> => {
    const begin = performance.now()
    await work()
    return performance.now() - begin
  }
  const gone = await onA.another('alpha')
  await becomes(at(gone, b), 'served', FREE)

  await whileCalled(async () => {
    await pause(500)
    // Changes are under way there, one of them with the lock of all in its hand.
    const racing = Array.from({ length: 10 }, () => onB.call('service_createEndpoint', [{ chain: 'alpha' }]))
    await Promise.race(racing)
    islands[1]!.isCut = true
    const begin = performance.now()
    const reasons = (await Promise.all(racing)).map(({ error }) => String(error?.data.reason ?? 'made'))
    t.ok(reasons.includes('store_unavailable'), `they are ${reasons.join(', ')}`)
    t.ok(reasons.every(reason => ['made', 'store_unavailable'].includes(reason)))
    t.ok(performance.now() - begin < 2 * TIMEOUT + SLACK)
    const freed = await took(() =>
      until('the other machine can write', async () => {
        const { result } = await onA.call('service_deleteEndpoint', [{ endpointId: gone.endpointId }])
        return result !== undefined
      }),
    )
    t.ok(freed < 2 * TIMEOUT + SLACK, `it could behind ${Math.round(freed)} ms`)
    t.equal(await reasonOf(gone, FREE), 'invalid_key')
    t.equal(await reasonOf(at(gone, b), FREE), 'served', 'a machine that is cut off knows nothing of it')
    await metricIs(b, 'tollgate_limit_store_away', {}, 1)
    t.equal(await metric(a, 'tollgate_limit_store_away'), 0)
    const refused = await took(async () =>
      t.equal(
        (await onB.call('service_createEndpoint', [{ chain: 'alpha' }])).error.data.reason,
        'store_unavailable',
      ),
    )
    t.ok(refused < TIMEOUT + SLACK, `it was refused behind ${Math.round(refused)} ms`)
    await pause(LOST)
    islands[1]!.isCut = false
    await becomes(at(gone, b), 'invalid_key', FREE)
    await metricIs(b, 'tollgate_limit_store_away', {}, 0, SOON)
    await until(
      'it can write again',
      async () => (await onB.call('service_createEndpoint', [{ chain: 'alpha' }])).result !== undefined,
    )
  })
  await until('PostgreSQL has everything, once', async () => {
    const { usage, total, quota_window: windows } = await fleet.sums()
    t.ok(usage <= served, `${usage} of ${served}`)
    return usage === served && total === served && windows <= served
  })
  for (const gateway of [a, b]) t.equal(await metric(gateway, 'tollgate_spool_fenced'), 0)
  t.strictSame(await fleet.query('SELECT count(*)::int AS nodes FROM node'), [{ nodes: 2 }])
  // What either says of its accounts is the same.
  const lists = await Promise.all([onA, onB].map(access => access.managed('service_listEndpoints')))
  const [first, second] = lists.map(({ endpoints }) =>
    (endpoints as readonly { readonly endpointId: string }[]).map(({ endpointId }) => endpointId).sort(),
  )
  t.strictSame(first, second)
})
