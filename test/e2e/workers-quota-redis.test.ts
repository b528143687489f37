import t from 'tap'
import { createAccess } from '../support/accounts.ts'
import { startGateway } from '../support/gateway.ts'
import { result } from '../support/node-replies.ts'
import { startNode } from '../support/scripted-node.ts'
import { noServers, startRedis } from '../support/servers.ts'
import { until } from '../support/until.ts'
import { crewOf, isAlive, kill9 } from '../support/workers.ts'

const QUOTA = 1_000

t.test(
  'bug: what workers took of a quota in Redis while no keeper was there was given out once more',
  { skip: noServers },
  async t => {
    const [redis, node] = await Promise.all([startRedis(t), startNode(t, { chainId: 1001 })])
    node.on('eth_gasPrice', result('"0x1"'))
    const gateway = await startGateway(t, {
      networks: { alpha: { chainId: 1001 } },
      routes: [{ id: 'alpha-a', network: 'alpha', http: node.url }],
      plans: { counted: { tiers: ['any'], quota: { requests: QUOTA, every: '30d' } } },
      gateway: { workers: 2, redis: { url: redis.url, timeout: '1s' } },
    })
    const { keeper } = await crewOf(gateway, 2)
    const access = await createAccess(gateway, 'counted', 'alpha')
    let served = 0
    const call = async (): Promise<string> => {
      const { error } = await access.call('eth_gasPrice')
      if (error === undefined) served += 1
      return String(error?.data.reason ?? 'served')
    }
    // Each has heard of the quota.
    for (let i = 0; i < 50; i += 1) await call()

    // Nobody starts the next one meanwhile.
    gateway.signal('SIGSTOP')
    kill9(keeper)
    await until('the keeper is gone', () => Promise.resolve(!isAlive(keeper)))
    const before = served
    for (let i = 0; i < 200; i += 1) await call()
    t.equal(served - before, 200, 'workers have their parts without a keeper')
    gateway.signal('SIGCONT')
    await until('there is another keeper', async () => (await crewOf(gateway, 2)).keeper !== keeper)

    let refused = 0
    while (refused < 50 && served <= QUOTA) refused = (await call()) === 'served' ? 0 : refused + 1
    t.ok(served <= QUOTA, `${served} of ${QUOTA}`)
  },
)
