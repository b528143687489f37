/** Buckets in a real Redis, and what goes wrong on the way to it. */
import { connect, createServer } from 'node:net'
import type { Socket } from 'node:net'
import { once } from 'node:events'
import t from 'tap'
import type { Test } from 'tap'
import { randomUUID } from 'node:crypto'
import { Redis as Single } from 'ioredis'
import type { LimitAnswer, LimitQuestion, LimitStore } from '../../../src/ports/limit-store.ts'
import { StoreUnavailable } from '../../../src/ports/store-unavailable.ts'
import { script } from '../../../src/stores/redis/redis.ts'

import { openRedis, redisBuckets, redisConfig } from '../../support/redis-limits.ts'
import { noServers, startRedis } from '../../support/servers.ts'
import { until } from '../../support/until.ts'

if (noServers !== false) {
  t.plan(0, noServers)
  process.exit(0)
}

const redis = await startRedis(t)
const window = { start: 0, end: 4_000_000_000 }
const rate: LimitQuestion = {
  key: '{acc_1}:rate',
  limit: { perSecond: 0.0001, burst: 100 },
  spent: 0,
  over: 0,
  want: 0,
}
const quota: LimitQuestion = {
  ...rate,
  key: '{acc_1}:quota:0',
  limit: { perSecond: 0, burst: 100 },
  quota: { account: 'acc_1', window, every: 'month' },
}

async function ask(store: LimitStore, question: LimitQuestion): Promise<LimitAnswer> {
  return (await store.ask([question]))[0]!
}

/** A way to Redis on which the next answer may be cut off: Redis has done what it was asked. */
async function proxy(t: Test) {
  const state = { cutsNext: false, cut: 0 }
  const open = new Set<Socket>()
  const server = createServer(client => {
    const upstream = connect(redis.port, '127.0.0.1')
    for (const socket of [client, upstream]) {
      open.add(socket)
      socket.on('error', () => undefined)
      socket.on('close', () => {
        client.destroy()
        upstream.destroy()
      })
    }
    client.pipe(upstream)
    upstream.on('data', bytes => {
      if (state.cutsNext) {
        state.cutsNext = false
        state.cut += 1
        client.destroy()
      } else client.write(bytes)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    for (const socket of open) socket.destroy()
    server.close()
  })
  return { state, url: `redis://127.0.0.1:${(server.address() as { port: number }).port}` }
}

t.test('a question that Redis took and nobody heard of is taken once when it is said again', async t => {
  const { state, url } = await proxy(t)
  const prefix = randomUUID()
  const store = redisBuckets(t, await openRedis(t, redisConfig(url, { prefix })))
  const other = redisBuckets(t, await openRedis(t, redisConfig(redis.url, { prefix })))
  for (const [question, what] of [
    [rate, 'a rate'],
    [quota, 'a quota'],
  ] as const) {
    t.equal((await ask(store, { ...question, want: 1 })).granted, 1)
    state.cutsNext = true
    await t.rejects(ask(store, { ...question, spent: 10, want: 20 }), StoreUnavailable)
    t.match((await ask(other, question)).level.toFixed(1), '69.0', `${what}: it was taken`)
    const again = await until('the way is there again', () =>
      ask(store, { ...question, spent: 10, want: 20 }).catch(() => undefined),
    )
    t.equal(again.granted, 20)
    t.equal((await ask(other, question)).level.toFixed(1), '69.0', `${what}: once`)
  }
  t.equal(state.cut, 2)
})

t.test('bug: what was given back of a quota was lost for all with the answer to that', async t => {
  const client = await openRedis(t, redisConfig(redis.url, { prefix: randomUUID() }))
  const lost: { next: ('question' | 'answer')[] } = { next: [] }
  const store = redisBuckets(t, {
    isCluster: false,
    isAway: false,
    run: async (...run) => {
      const what = lost.next.shift()
      if (what === 'question') throw new StoreUnavailable('lost')
      const answer = await client.run(...run)
      if (what === 'answer') throw new StoreUnavailable('lost')
      return answer
    },
  })
  const other = redisBuckets(t, client)
  t.equal((await ask(store, { ...quota, want: 40 })).granted, 40)
  let level = 60
  for (const next of [
    ['answer'],
    ['question'],
    ['answer', 'answer'],
    ['question', 'answer'],
    ['answer', 'question'],
  ] as const) {
    lost.next = [...next]
    for (const [i] of next.entries()) {
      await t.rejects(ask(store, { ...quota, spent: -(i + 1) }), StoreUnavailable)
      level += i + 1
    }
    t.equal((await ask(store, quota)).level, level, `behind the loss of ${next.join(' and ')}`)
    t.equal((await ask(other, quota)).level, level)
  }
  t.equal((await ask(store, { ...quota, want: level })).granted, level)
  t.equal((await ask(other, quota)).level, 0)
})

t.test('a question that arrives behind its successor is ignored', async t => {
  const client = await openRedis(t, redisConfig(redis.url, { prefix: randomUUID() }))
  const held: (() => Promise<unknown>)[] = []
  const slow = { holds: false }
  const store = redisBuckets(t, {
    isCluster: false,
    isAway: false,
    run: (...run) => {
      if (!slow.holds) return client.run(...run)
      held.push(() => client.run(...run))
      return Promise.reject(new StoreUnavailable('too slow'))
    },
  })
  await ask(store, { ...rate, want: 1 })
  slow.holds = true
  await t.rejects(ask(store, { ...rate, spent: 30 }))
  slow.holds = false
  t.equal((await ask(store, { ...rate, spent: 30 })).level.toFixed(1), '69.0')
  await Promise.all(held.map(async run => run()))
  t.equal((await ask(store, rate)).level.toFixed(1), '69.0')
})

t.test(
  'a Redis that lost its data gives one more burst of a rate, and goes by the ledger for a quota',
  async t => {
    const client = await openRedis(t, redisConfig(redis.url, { prefix: randomUUID() }))
    const used = { now: 0 }
    const store = redisBuckets(t, client, () => used.now)
    await ask(store, { ...rate, want: 100 })
    t.equal((await ask(store, { ...quota, want: 40 })).isRenewed, undefined)
    await client.run({ text: "return redis.call('FLUSHALL')", sha: 'x' }, [], []).catch(() => undefined)
    t.equal((await ask(store, { ...rate, want: 100 })).granted, 100)
    used.now = 40
    const renewed = await ask(store, { ...quota, spent: 15, want: 1 })
    t.match(renewed, { level: 59, isRenewed: true }, 'what was spent is in the ledger already')
    t.equal((await ask(store, quota)).isRenewed, undefined)
  },
)

t.test(
  'a quota of which Redis forgot something is lowered to what the ledger has left, never raised',
  async t => {
    const client = await openRedis(t, redisConfig(redis.url, { prefix: randomUUID() }))
    const used = { now: 0 }
    const store = redisBuckets(t, client, () => used.now)
    await ask(store, { ...quota, want: 10 })
    used.now = 70
    await store.compare()
    t.equal((await ask(store, quota)).level, 30)
    used.now = 5
    await store.compare()
    t.equal((await ask(store, quota)).level, 30)
  },
)

t.test(
  'bug: what two machines had used and one had not heard of was given again by a Redis that lost it',
  async t => {
    const prefix = randomUUID()
    const client = await openRedis(t, redisConfig(redis.url, { prefix }))
    const charged = [0, 0]
    // What others have used is not known yet: PostgreSQL is away, or there is none.
    const stores = charged.map((_, i) => redisBuckets(t, client, () => charged[i]!))
    const take = async (i: number, want: number): Promise<number> => {
      const { granted } = await ask(stores[i]!, { ...quota, want })
      charged[i]! += granted
      return granted
    }
    t.equal(await take(0, 30), 30)
    t.equal(await take(1, 40), 40)
    const direct = new Single(redis.url)
    t.teardown(() => {
      direct.disconnect()
    })
    await direct.flushall()
    t.equal((await ask(stores[0]!, { ...quota, spent: 0 })).level, 70, 'the first says what it has used')
    t.equal(await take(0, 10), 10)
    const answer = await ask(stores[1]!, { ...quota, spent: 5 })
    t.equal(answer.level, 20, 'and so does the other: what it reports is charged already')
    t.equal(answer.isRenewed, true)
    t.equal((await ask(stores[1]!, { ...quota, spent: 5 })).level, 15, 'from then on it reports')
    charged[1]! += 5
    t.equal((await ask(stores[0]!, quota)).level, 15)
  },
)

t.test('bug: what was used of a quota was given again by a Redis put back to an older state', async t => {
  const prefix = randomUUID()
  const client = await openRedis(t, redisConfig(redis.url, { prefix }))
  const charged = [0, 0]
  const stores = charged.map((_, i) => redisBuckets(t, client, () => charged[i]!))
  const take = async (i: number, want: number) => {
    const answer = await ask(stores[i]!, { ...quota, want })
    charged[i]! += answer.granted
    return answer
  }
  const direct = new Single(redis.url)
  t.teardown(() => {
    direct.disconnect()
  })
  await take(0, 10)
  await take(1, 10)
  const old = (await direct.getBuffer(`${prefix}:${quota.key}`))!
  await take(0, 30)
  await take(1, 40)
  await direct.set(`${prefix}:${quota.key}`, old)
  t.match(await take(0, 1), { level: 59, granted: 1, isRenewed: true }, 'the first says what it has used')
  t.match(await take(1, 1), { level: 8, granted: 1, isRenewed: true }, 'and so does the other')
  t.match(await take(0, 1), { level: 7, granted: 1, isRenewed: undefined })
  t.match(await take(1, 9), { level: 0, granted: 7, isRenewed: undefined })
})

t.test(
  'what the ledger has found to be used meanwhile is not used once more by who says it later',
  async t => {
    const prefix = randomUUID()
    const client = await openRedis(t, redisConfig(redis.url, { prefix }))
    const known = { all: 30, own: 30 }
    const [store, other] = [
      redisBuckets(
        t,
        client,
        () => known.all,
        () => known.own,
      ),
      redisBuckets(t, client, () => 40),
    ]
    t.equal((await ask(store, quota)).level, 70)
    t.equal((await ask(other, quota)).level, 70, 'a machine that is new to it adds nothing')
    const direct = new Single(redis.url)
    t.teardown(() => {
      direct.disconnect()
    })
    await direct.flushall()
    t.equal((await ask(store, quota)).level, 70)
    known.all = 70
    await store.compare()
    t.equal((await ask(store, quota)).level, 30)
    t.equal((await ask(other, quota)).level, 30)
  },
)

t.test("bug: an endpoint's day was compared with what was known when its bucket was opened", async t => {
  const client = await openRedis(t, redisConfig(redis.url, { prefix: randomUUID() }))
  const used = [10, 60]
  const reported = [10, 20]
  const sum = (): number => reported.reduce((all, one) => all + one)
  const before = sum()
  const stores = used.map((_, i) =>
    redisBuckets(
      t,
      client,
      () => Math.max(used[i]!, before),
      () => used[i]!,
      async () => {
        reported[i] = used[i]!
        return Promise.resolve(sum())
      },
    ),
  )
  const day: LimitQuestion = { ...quota, quota: { ...quota.quota!, endpoint: 'ep_1', every: 86_400_000 } }
  t.equal((await ask(stores[0]!, day)).level, 70, 'what was reported')
  await ask(stores[1]!, day)
  await until(
    'what the second had not reported is counted too',
    async () => (await ask(stores[0]!, day)).level === 30,
  )
  used[1] = 65
  reported[1] = 65
  await stores[0]!.compare()
  t.equal((await ask(stores[0]!, day)).level, 25, 'and what a silent one reports later')
})

t.test('nobody waits longer than the timeout, and after two failures nobody waits', async t => {
  const heard: string[] = []
  const client = await openRedis(t, redisConfig(redis.url, { prefix: randomUUID(), timeout: 200 }), {
    away: () => heard.push('away'),
    back: () => heard.push('back'),
  })
  const store = redisBuckets(t, client)
  await ask(store, rate)
  redis.signal('SIGSTOP')
  t.teardown(() => {
    redis.signal('SIGCONT')
  })
  for (let i = 0; i < 2; i += 1) await t.rejects(ask(store, { ...rate, spent: 1 }), StoreUnavailable)
  t.strictSame(heard, ['away'])
  const begin = performance.now()
  const failed = await Promise.allSettled(Array.from({ length: 50 }, async () => store.ask([rate])))
  t.ok(failed.every(({ status }) => status === 'rejected'))
  t.ok(performance.now() - begin < 200, 'they fail at once')
  redis.signal('SIGCONT')
  await until('it is found back', () => Promise.resolve(!client.isAway))
  t.strictSame(heard, ['away', 'back'])
  t.equal(
    (await ask(store, { ...rate, spent: 1 })).level.toFixed(1),
    '99.0',
    'what was late is not taken twice',
  )
})

t.test(
  'bug: a Redis that is full answers a PING, and was there again each second without taking a word',
  async t => {
    const heard: string[] = []
    const client = await openRedis(t, redisConfig(redis.url, { prefix: randomUUID() }), {
      away: () => heard.push('away'),
      back: () => heard.push('back'),
    })
    const store = redisBuckets(t, client)
    const admin = new Single(redis.url)
    t.teardown(async () => {
      await admin.config('SET', 'maxmemory', '0')
      admin.disconnect()
    })
    /** Writes that it has refused. */
    const refused = async (): Promise<number> =>
      Number(/errorstat_OOM:count=(\d+)/.exec(await admin.info('errorstats'))?.[1] ?? 0)
    await admin.config('SET', 'maxmemory', '1')
    while (!client.isAway) await t.rejects(ask(store, rate), StoreUnavailable)
    const before = await refused()
    await until(
      'it was tried again and again',
      async () => heard.includes('back') || (await refused()) >= before + 3,
    )
    t.strictSame(heard, ['away'])
    await admin.config('SET', 'maxmemory', '0')
    await until('it is found back', () => Promise.resolve(!client.isAway))
    t.strictSame(heard, ['away', 'back'])
    t.equal((await ask(store, { ...rate, want: 1 })).granted, 1)
  },
)

t.test('a Redis that was killed is found again when another one is there', async t => {
  const client = await openRedis(t, redisConfig(redis.url, { prefix: randomUUID() }))
  const store = redisBuckets(t, client)
  await ask(store, rate)
  await redis.kill()
  for (let i = 0; i < 3; i += 1) await t.rejects(ask(store, rate), StoreUnavailable)
  t.ok(client.isAway)
  await redis.start()
  await until('it is found', () => Promise.resolve(!client.isAway))
  t.equal((await ask(store, { ...rate, want: 1 })).granted, 1)
})

t.test('one that is not there at the start is away, and found later', async t => {
  const lost: string[] = []
  const before = await openRedis(t, redisConfig(redis.url), {
    away: ({ message }) => lost.push(message),
  })
  await redis.kill()
  while (!before.isAway) await t.rejects(ask(redisBuckets(t, before), rate), StoreUnavailable)
  t.match(lost, [/^no connection(: E[A-Z]+)?$/], 'in no words of its client library')
  const client = await openRedis(t, redisConfig(redis.url))
  t.ok(client.isAway)
  await redis.start()
  await until('it is found', () => Promise.resolve(!client.isAway))
})

t.test('bug: what was taken lately is known behind a Redis whose clock went back', async t => {
  const client = await openRedis(t, redisConfig(redis.url, { prefix: randomUUID() }))
  const store = redisBuckets(t, client)
  await ask(store, { ...rate, want: 30 })
  // As a server left it whose clock was an hour ahead, or what is a replica's now.
  const ahead = script(`local bucket = cmsgpack.unpack(redis.call('GET', KEYS[1]))
    bucket.trafficAt = bucket.trafficAt + 3600000
    redis.call('SET', KEYS[1], cmsgpack.pack(bucket))`)
  await client.run(ahead, [rate.key], [])
  t.equal((await ask(store, { ...rate, want: 1 })).traffic, 31)
})
