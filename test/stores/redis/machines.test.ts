/** How many machines share a Redis, as each of them counts. */
import { randomUUID } from 'node:crypto'
import { Redis as Single } from 'ioredis'
import t from 'tap'
import { Machines } from '../../../src/stores/redis/machines.ts'
import { openRedis, redisConfig } from '../../support/redis-limits.ts'
import { noServers, startRedis } from '../../support/servers.ts'

if (noServers !== false) {
  t.plan(0, noServers)
  process.exit(0)
}

const redis = await startRedis(t)

t.test(
  'bug: a machine that spoke first to a Redis which had lost its data took the parts of all',
  async t => {
    const client = await openRedis(t, redisConfig(redis.url, { prefix: randomUUID() }))
    const join = async () => {
      const machines = await Machines.join(client, randomUUID(), () => undefined)
      t.teardown(() => machines.close())
      return machines
    }
    const one = await join()
    t.equal(one.live, 1)
    const two = await join()
    await one.beat()
    t.strictSame([one.live, two.live], [2, 2])
    const direct = new Single(redis.url)
    t.teardown(() => {
      direct.disconnect()
    })
    await direct.flushall()
    await one.beat()
    t.equal(one.live, 2, 'the other has not spoken yet')
    await two.beat()
    await one.beat()
    t.strictSame([one.live, two.live], [2, 2])
  },
)
