/** What callers hold over several machines, counted in a real Redis. */
import { randomUUID } from 'node:crypto'
import t from 'tap'
import type { Test } from 'tap'
import { SharedHoldings } from '../../../src/limits/shared/holdings.ts'
import { systemClock } from '../../../src/ports/clock.ts'
import { RedisHoldings } from '../../../src/stores/redis/holdings.ts'
import { openRedis, redisConfig } from '../../support/redis-limits.ts'
import { noServers, startRedis } from '../../support/servers.ts'
import { until } from '../../support/until.ts'

if (noServers !== false) {
  t.plan(0, noServers)
  process.exit(0)
}

const redis = await startRedis(t)

/** Machines of two processes each, on one Redis of their own. */
async function open(t: Test, machines = 2) {
  const prefix = randomUUID()
  const all = []
  for (let machine = 0; machine < machines; machine += 1) {
    const client = await openRedis(t, redisConfig(redis.url, { prefix, timeout: 300 }))
    const store = new RedisHoldings(client, () => 2 * machines)
    for (const slot of [1, 2]) {
      const joined = store.join(`${machine}/${slot}`, { recall: async recalled => held.recall(recalled) })
      const held: SharedHoldings = new SharedHoldings({
        ...{ store: joined, clock: systemClock, every: 25, again: 1_000 },
      })
      t.teardown(() => {
        held.close()
      })
      all.push({ of: held.of('connections'), client, held, joined })
    }
  }
  return all
}

for (const limit of [1, 3, 10, 100])
  t.test(`takers that race on four processes of two machines end at exactly ${limit}`, async t => {
    const all = await open(t)
    const take = async (count: number): Promise<number> => {
      const taken = Array.from({ length: count }, async (_, i) => all[i % 4]!.of.take('a', limit))
      return (await Promise.all(taken)).filter(Boolean).length
    }
    t.equal(await take(4 * limit), limit)
    t.equal(await take(8), 0)
    all.find(({ held }) => held.hello().length > 0)!.of.free('a')
    await until('the place is free', async () => (await take(1)) === 1)
    t.equal(await take(4), 0)
  })

t.test('far below the limit nobody waits; near it each one asks', async t => {
  const [one, , other] = await open(t)
  t.equal(await one!.of.take('a', 100), true)
  t.equal(one!.of.take('a', 100), true, 'it was given room')
  for (let i = 0; i < 78; i += 1) t.equal(await other!.of.take('a', 100), true)
  t.type(other!.of.take('a', 100), Promise)
})

t.test('room that another machine does not use refuses nobody: it ends by time', async t => {
  const [one, , other] = await open(t)
  t.equal(await one!.of.take('a', 40), true)
  let taken = 0
  while (await other!.of.take('a', 40)) taken += 1
  t.equal(taken, 39)
})

t.test('what a process holds that is gone without a word ends within ten seconds', async t => {
  const [one, , other] = await open(t)
  t.equal(await one!.of.take('a', 1), true)
  t.equal(await other!.of.take('a', 1), false)
  one!.held.close()
  const begin = performance.now()
  await until('its place is free', async () => await other!.of.take('a', 1))
  t.ok(performance.now() - begin > 5_000)
})

t.test('while Redis hangs each goes by what it knew, and says all of it afterwards', async t => {
  const [one, , other] = await open(t)
  for (let i = 0; i < 3; i += 1) t.equal(await one!.of.take('a', 5), true)
  t.equal(await other!.of.take('a', 5), true)
  redis.signal('SIGSTOP')
  t.teardown(() => {
    redis.signal('SIGCONT')
  })
  t.equal(await other!.of.take('a', 5), true, 'the other holds three')
  t.equal(await other!.of.take('a', 5), false)
  redis.signal('SIGCONT')
  await until('it is there again', () => Promise.resolve(!one!.client.isAway && !other!.client.isAway))
  await until('all are counted', async () => {
    const [answer] = await one!.joined.hold([{ key: '{a}:connections', limit: 5, held: 3, room: 0, want: 0 }])
    return answer?.others === 2
  })
  t.equal(await one!.of.take('a', 5), false)
})
