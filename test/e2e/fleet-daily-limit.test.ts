import t from 'tap'
import { Redis } from 'ioredis'
import { startFleet } from '../support/fleet.ts'
import { result } from '../support/node-replies.ts'
import { startNode } from '../support/scripted-node.ts'
import { noServers, startRedis } from '../support/servers.ts'
import { until } from '../support/until.ts'

const LIMIT = 60
/** Calls that the other machine serves without the limit. */
const BEFORE = 50

/** What is left in the only bucket of an endpoint's day. */
const LEFT = `local keys = redis.call('KEYS', '*:day:*')
return tostring(#keys == 1 and cmsgpack.unpack(redis.call('GET', keys[1])).level or 'none')`

t.test(
  'bug: a daily limit did not count what another machine had used before it was set',
  { skip: noServers },
  async t => {
    const [redis, node] = await Promise.all([startRedis(t), startNode(t, { chainId: 1001 })])
    const fleet = await startFleet(
      t,
      {
        networks: { alpha: { chainId: 1001 } },
        routes: [{ id: 'alpha-a', network: 'alpha', http: node.url }],
        gateway: { redis: { url: redis.url, timeout: '2s' } },
      },
      [{}, {}],
      // Nothing is reported by itself while the test runs.
      { postgres: { spool: '1h' } },
    )
    node.on('web3_sha3', result('"ok"'))
    const [a, b] = fleet.accesses as [(typeof fleet.accesses)[0], (typeof fleet.accesses)[0]]
    const client = new Redis(redis.url)
    t.teardown(() => {
      client.disconnect()
    })
    let served = 0
    const call = async (access: typeof a): Promise<boolean> => {
      const isServed = (await access.call('web3_sha3', ['0x00'])).result === 'ok'
      if (isServed) served += 1
      return isServed
    }
    for (let i = 0; i < BEFORE; i += 1) await call(b)
    // Who lists usage has reported its own: this is not asked of the one that has some.
    await b.managed('service_updateEndpoint', [{ endpointId: b.endpointId, dailyLimit: LIMIT }])
    await until('the other knows the limit', async () => {
      const { endpoints } = await a.managed('service_listEndpoints')
      return endpoints[0].dailyLimit === LIMIT
    })
    t.equal((await fleet.sums()).usage, 0, 'nothing is reported')
    await call(a)
    await call(b)
    await until('what the other has used is counted', async () => {
      return Number(await client.eval(LEFT, 0)) <= LIMIT - BEFORE
    })
    for (let refused = 0; refused < 3 && served <= 2 * LIMIT;) if (!(await call(a))) refused += 1
    // A call of each was under way when that was read, and each may have had one to spare.
    t.ok(served >= LIMIT && served <= LIMIT + 4, `${served} of ${LIMIT} were served`)
  },
)
