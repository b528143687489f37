/** The stores over a cluster: questions about several accounts go to several servers. */
import { existsSync } from 'node:fs'
import t from 'tap'
import type { HoldingProcess, HoldingQuestion } from '../../../src/ports/holding-store.ts'
import { RedisHoldings } from '../../../src/stores/redis/holdings.ts'
import { openRedis, redisBuckets, redisConfig } from '../../support/redis-limits.ts'
import { startRedisCluster } from '../../support/redis-cluster.ts'
import { until } from '../../support/until.ts'

if (!existsSync('/usr/bin/redis-cli') || !existsSync('/usr/bin/redis-server')) {
  t.plan(0, 'redis-server and redis-cli are not installed')
  process.exit(0)
}

const url = await startRedisCluster(t)
const client = await openRedis(t, redisConfig(url[0]!, { url, timeout: 2_000 }))
await until('the cluster is known', () => Promise.resolve(!client.isAway))

t.test('one message about twenty accounts is answered in its order', async t => {
  const [one, other] = [redisBuckets(t, client), redisBuckets(t, client, () => 7)]
  const limit = { perSecond: 0.0001, burst: 100 }
  const questions = Array.from({ length: 20 }, (_, i) => ({
    key: `{acc_${i}}:rate`,
    limit,
    spent: 0,
    over: 0,
    want: i + 1,
  }))
  const granted = (await one.ask(questions)).map(answer => answer?.granted)
  t.strictSame(
    granted,
    Array.from({ length: 20 }, (_, i) => i + 1),
  )
  const levels = (await other.ask(questions)).map(answer => Math.round(answer?.level ?? 0))
  t.strictSame(
    levels,
    Array.from({ length: 20 }, (_, i) => 100 - 2 * (i + 1)),
    'the same buckets',
  )
  const quota = { account: 'acc_1', window: { start: 0, end: 4_000_000_000 }, every: 'month' } as const
  const quotas = questions.map((question, i) => ({
    ...question,
    key: `{acc_${i}}:quota`,
    limit: { perSecond: 0, burst: 100 },
    want: 1,
    quota: { ...quota, account: `acc_${i}` },
  }))
  t.strictSame(
    (await other.ask(quotas)).map(answer => answer?.level),
    quotas.map(() => 92),
  )
  await other.compare()
})

t.test('what is held is counted', async t => {
  const holdings = new RedisHoldings(client)
  const busy: HoldingProcess = { recall: recalled => Promise.resolve(recalled.map(() => 1)) }
  const [one, other] = [holdings.join('a/1', busy), holdings.join('b/1', busy)]
  const take = (i: number): HoldingQuestion => ({
    key: `{acc_${i}}:connections`,
    limit: 1,
    held: 0,
    want: 1,
  })
  const granted = async (member: typeof one): Promise<unknown> =>
    (await member.hold([take(1), take(2), take(3)])).map(answer => answer?.granted)
  t.strictSame(await granted(one), [1, 1, 1])
  t.strictSame(await granted(other), [0, 0, 0])
  one.leave()
  await until('they are free', async () => String(await granted(other)) === '1,1,1')
})
