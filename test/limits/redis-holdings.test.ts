/** What callers hold over several machines, counted in a real Redis. */
import { randomUUID } from 'node:crypto'
import { EventEmitter, once } from 'node:events'
import t from 'tap'
import type { Test } from 'tap'
import { SharedHoldings } from '../../src/limits/holdings.ts'
import { systemClock } from '../../src/ports/clock.ts'
import { RedisHoldings } from '../../src/stores/redis/holdings.ts'
import { openRedis, redisConfig } from '../support/redis-limits.ts'
import { noServers, startRedis } from '../support/servers.ts'
import { until } from '../support/until.ts'

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
    const store = new RedisHoldings(client)
    for (const slot of [1, 2]) {
      const joined = store.join(`${machine}/${slot}`, { recall: async recalled => held.recall(recalled) })
      const held: SharedHoldings = new SharedHoldings({
        store: joined,
        clock: systemClock,
        every: 25,
        again: 1_000,
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

t.test(
  'what a process was granted and has not heard of yet is not forgotten when another asks it',
  async t => {
    const client = await openRedis(t, redisConfig(redis.url, { prefix: randomUUID(), timeout: 3_000 }))
    const store = new RedisHoldings(client)
    const unheard = { recall: () => Promise.resolve([0]) }
    const [one, two] = [store.join('1', unheard), store.join('2', unheard)]
    // The first waits for a third one, which says what it holds once the second has its answer.
    const events = new EventEmitter()
    const answered = once(events, 'answered')
    let asked = 0
    const third = store.join('3', {
      recall: async () => {
        if ((asked += 1) === 1) await answered
        return [1]
      },
    })
    const question = { key: 'a', limit: 11, held: 0 }
    await third.hold([{ ...question, held: 1, want: 0 }])
    const waiting = one.hold([{ ...question, want: 12 }])
    const second = await two.hold([{ ...question, want: 8 }])
    events.emit('answered')
    const answers = [await waiting, second]
    t.equal(
      answers.reduce((sum, [answer]) => sum + answer!.granted, 0),
      10,
    )
  },
)

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
    const [answer] = await one!.joined.hold([{ key: '{a}:connections', limit: 5, held: 3, want: 0 }])
    return answer?.others === 2
  })
  t.equal(await one!.of.take('a', 5), false)
})
