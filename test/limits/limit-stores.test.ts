/** What a store of shared buckets owes those who ask it, held over all that there are. */
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import type { Test } from 'tap'
import { Asking } from '../../src/limits/asking.ts'
import { LocalBuckets } from '../../src/limits/buckets.ts'
import { MachineBuckets } from '../../src/limits/machine-buckets.ts'
import { systemClock } from '../../src/ports/clock.ts'
import type { LimitAnswer, LimitQuestion, LimitStore } from '../../src/ports/limit-store.ts'
import { connectWorker, startKeeper } from '../support/keeper.ts'
import { openRedis, redisBuckets, redisConfig } from '../support/redis-limits.ts'
import { noServers, startRedis } from '../support/servers.ts'

/** Stores for two processes over the same buckets. `used` is what the ledger says of each quota. */
type Open = (t: Test, used: () => number | null) => Promise<readonly [LimitStore, LimitStore]>

const redis = noServers === false ? await startRedis(t) : null

const stores: Readonly<Record<string, Open>> = {
  'the memory of one process': (_, used) => {
    const buckets = new LocalBuckets(systemClock, used)
    return Promise.resolve([buckets.of('one'), buckets.of('other')])
  },
  "the keeper's socket": async (t, used) => {
    const { path } = await startKeeper(t, { used })
    return [await connectWorker(t, path, { slot: 1 }), await connectWorker(t, path, { slot: 2 })]
  },
  Redis: async (t, used) => {
    const client = await openRedis(t, redisConfig(redis!.url, { prefix: randomUUID() }))
    return [redisBuckets(t, client, used), redisBuckets(t, client, used)]
  },
  'a machine over Redis': async (t, used) => {
    const client = await openRedis(t, redisConfig(redis!.url, { prefix: randomUUID() }))
    const store = redisBuckets(t, client, used)
    const asking = new Asking({ store, clock: systemClock, every: 100, processes: 1 })
    t.teardown(() => asking.close())
    const machine = new MachineBuckets(asking, systemClock)
    return [machine.of('one'), machine.of('other')]
  },
}

/** Comes back so slowly that nothing does while a test runs. */
const SLOW = { perSecond: 0.0001, burst: 20 }
const QUOTA = { perSecond: 0, burst: 1_000 }
const window = { start: 0, end: 4_000_000_000 }

const ask = (more: Partial<LimitQuestion>): LimitQuestion => ({
  key: '{acc_1}:rate',
  limit: SLOW,
  spent: 0,
  over: 0,
  want: 0,
  ...more,
})
const askQuota = (more: Partial<LimitQuestion>): LimitQuestion =>
  ask({ key: '{acc_1}:quota:0', limit: QUOTA, quota: { account: 'acc_1', window, every: 'month' }, ...more })

async function answer(store: LimitStore, question: LimitQuestion): Promise<LimitAnswer> {
  return (await store.ask([question]))[0]!
}

function near(t: Test, value: number, wanted: number, what: string): void {
  t.ok(Math.abs(value - wanted) < 0.01, `${what}: ${value} for ${wanted}`)
}

for (const [name, open] of Object.entries(stores))
  t.test(name, { skip: name.includes('Redis') && noServers }, t => {
    t.test('a bucket starts full, and grants what there is of it', async t => {
      const [one, other] = await open(t, () => 0)
      t.match(await answer(one, ask({ want: 15 })), { granted: 15, active: 1 })
      const rest = await answer(other, ask({ want: 8 }))
      near(t, rest.granted, 5, 'less than was wanted')
      near(t, rest.level, 0, 'nothing is left')
    })

    t.test('several buckets share a question, and are answered in its order', async t => {
      const [one] = await open(t, () => 0)
      const questions = ['{a}:rate', '{b}:rate', '{a}:rate:e'].map((key, i) => ask({ key, want: i + 1 }))
      t.match(await one.ask(questions), [{ granted: 1 }, { granted: 2 }, { granted: 3 }])
    })

    t.test('what was spent is subtracted, below zero too, and what is given back is there again', async t => {
      const [one, other] = await open(t, () => 0)
      await answer(one, ask({ want: 1 }))
      const over = await answer(other, ask({ spent: 30 }))
      near(t, over.level, -11, 'the level')
      t.equal((await answer(one, ask({ want: 1 }))).granted, 0)
      await answer(other, ask({ spent: -15 }))
      t.equal((await answer(one, ask({ want: 3 }))).granted, 3)
    })

    t.test(
      'a bucket refills by time, and what came back while it was spent is not lost on a full one',
      async t => {
        const [one, other] = await open(t, () => 0)
        const limit = { perSecond: 100, burst: 100 }
        await answer(one, ask({ limit, want: 100 }))
        const begin = performance.now()
        await pause(300)
        const { level } = await answer(other, ask({ limit }))
        t.ok(level >= 29 && level <= (performance.now() - begin) / 10 + 5, `${level} are back`)
        await pause(1_000)
        near(t, (await answer(other, ask({ limit }))).level, 100, 'no more than the burst')
        // A machine hears of its processes too soon for it to matter.
        if (name === 'a machine over Redis') return
        await pause(400)
        const { level: after } = await answer(other, ask({ limit, spent: 50, over: 400 }))
        t.ok(after >= 89, `${after}: it was not full when they were spent`)
      },
    )

    t.test('whoever spoke of a bucket lately takes from it', async t => {
      const [one, other] = await open(t, () => 0)
      t.equal((await answer(one, ask({ want: 1 }))).active, 1)
      t.equal((await answer(other, ask({ want: 1 }))).active, 2)
      t.equal((await answer(other, ask({ key: '{b}:rate', want: 1 }))).active, 1)
    })

    t.test('units may be parts of one', async t => {
      const [one, other] = await open(t, () => 0)
      t.equal((await answer(one, ask({ want: 0.25 }))).granted, 0.25)
      near(t, (await answer(other, ask({ spent: 0.5 }))).level, 19.25, 'the level')
    })

    t.test(
      'a quota starts with what the ledger has left of it, and waits for a ledger that cannot be read',
      async t => {
        const used: { now: number | null } = { now: null }
        const [one, other] = await open(t, () => used.now)
        t.strictSame(await one.ask([askQuota({ want: 1 })]), [null])
        used.now = 990
        t.match(await answer(one, askQuota({ want: 4 })), { granted: 4 })
        used.now = 0
        t.match(await answer(other, askQuota({ want: 10 })), { granted: 6, level: 0 })
        // A machine that has just heard that nothing is left does not ask again at once.
        await pause(150)
        t.equal(
          (await answer(one, askQuota({ want: 1, limit: { ...QUOTA, burst: 1_100 } }))).granted,
          1,
          'another plan',
        )
      },
    )

    t.test('units to spare are a small part of what is left, and none near the end', async t => {
      const [one, other] = await open(t, () => 0)
      // What a machine holds to spare grows with what its processes take.
      if (name === 'a machine over Redis')
        for (let i = 0; i < 10; i += 1) await answer(other, askQuota({ want: 1, spare: 0 }))
      const first = await answer(one, askQuota({ want: 1, spare: 4_096 }))
      t.ok(first.granted > 1 && first.granted <= 1 + 1_000 / 32, `${first.granted} of 1000`)
      const rest = await answer(other, askQuota({ want: 1_000 }))
      t.ok(
        rest.granted <= 1_000 - first.granted && rest.granted > 900,
        `${rest.granted}: the other has the rest`,
      )
      await answer(one, askQuota({ spent: 1 - first.granted }))
      const last = await answer(one, askQuota({ want: 1, spare: 4_096 }))
      t.ok(last.granted >= 1 && last.granted <= first.granted, `${last.granted} of the last ones`)
    })
    t.end()
  })
