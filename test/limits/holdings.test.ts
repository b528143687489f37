import t from 'tap'
import type { Test } from 'tap'
import { HeldCounts } from '../../src/limits/held-counts.ts'
import { SharedHoldings } from '../../src/limits/holdings.ts'
import type { HoldingQuestion, HoldingStore } from '../../src/ports/holding-store.ts'
import type { Holdings } from '../../src/ports/holdings.ts'
import { SubscriptionSlots } from '../../src/subscriptions/shared/slots.ts'
import type { Keeper } from '../../src/runtime/workers/keeper.ts'
import { connectHoldings } from '../support/holdings.ts'
import type { ConnectedHoldings } from '../support/holdings.ts'
import { keeperAt, startKeeper } from '../support/keeper.ts'
import { TestClock } from '../support/test-clock.ts'
import { until } from '../support/until.ts'

/** Four workers of one keeper, and what they hold of one kind. */
async function fourWorkers(t: Test): Promise<{
  readonly keeper: Keeper
  readonly path: string
  readonly workers: readonly ConnectedHoldings[]
  readonly all: readonly Holdings[]
}> {
  const { keeper, path } = await startKeeper(t)
  const workers = await Promise.all([1, 2, 3, 4].map(async slot => connectHoldings(t, path, { slot })))
  await until('all are known', () => Promise.resolve(keeper.slots.length === 4))
  return { keeper, path, workers, all: workers.map(worker => worker.of('connections')) }
}

async function takeEach(all: readonly Holdings[], count: number, limit: number): Promise<number> {
  const taken = await Promise.all(Array.from({ length: count }, async (_, i) => all[i % 4]!.take('a', limit)))
  return taken.filter(Boolean).length
}

for (const limit of [1, 3, 10, 100])
  t.test(`takers that race on four workers end at exactly ${limit}`, async t => {
    const { all } = await fourWorkers(t)
    t.equal(await takeEach(all, 4 * limit, limit), limit)
    t.equal(await takeEach(all, 8, limit), 0)
  })

t.test('what was just given back elsewhere refuses nobody', async t => {
  const { all } = await fourWorkers(t)
  const [one, two] = all
  await takeEach(all, 8, 40)
  for (let i = 0; i < 32; i += 1) t.equal(await one!.take('a', 40), true)
  t.equal(await one!.take('a', 40), false)
  two!.free('a')
  t.equal(await one!.take('a', 40), true)
  t.equal(await one!.take('a', 40), false)
})

t.test('those who wait for what others gave back all get it', async t => {
  const counts = new HeldCounts()
  const members = [1, 2, 3, 4].map(slot =>
    counts.join(slot, { recall: () => Promise.resolve([1]) }, [{ key: 'a', held: 10 }]),
  )
  // Each has given back 9 of its 10, which only its own question says.
  const answers = await Promise.all(
    [10, 9, 9, 8].map(async (want, i) => members[i]!.hold([{ key: 'a', limit: 40, held: 1, want }])),
  )
  t.strictSame(
    answers.map(([answer]) => answer!.granted),
    [10, 9, 9, 8],
  )
})

t.test('kinds are counted apart', async t => {
  const { workers, all } = await fourWorkers(t)
  t.equal(await all[0]!.take('a', 1), true)
  t.equal(await workers[1]!.of('subscriptions').take('a', 1), true)
  t.equal(await workers[2]!.of('subscriptions').take('a', 1), false)
})

t.test('what a worker held that is lost is there for the others at once', async t => {
  const { keeper, workers, all } = await fourWorkers(t)
  t.equal(await takeEach(all, 8, 8), 8)
  workers[3]!.client.close()
  await until('it is noticed', () => Promise.resolve(keeper.slots.length === 3))
  t.equal(await takeEach(all.slice(0, 3).concat(all[0]!), 8, 8), 2)
})

t.test('nobody waits while the keeper is away, and one that comes again hears of everything', async t => {
  const { keeper, path, workers, all } = await fourWorkers(t)
  t.equal(await takeEach(all, 8, 12), 8)
  // What each knows of the others is as old as its last question.
  await Promise.all(all.map(async one => one.part('a', 4)))
  await keeper.close()
  await until('it is noticed', () => Promise.resolve(workers.every(({ client }) => !client.isConnected)))
  t.equal(await all[0]!.take('a', 12), true, '9 are known here')
  t.strictSame(
    [1, 2, 3, 4].map(() => all[0]!.take('a', 12)),
    [true, true, true, false],
    'at once',
  )
  const counts = new HeldCounts({ processes: 4 })
  const again = await keeperAt(t, path, { holdings: counts })
  await until('all are there', () => Promise.resolve(again.slots.length === 4))
  t.equal(counts.held('{a}:connections'), 12)
  t.equal(await all[1]!.take('a', 12), false)
  all[2]!.free('a')
  t.equal(await takeEach(all, 4, 12), 1)
})

t.test('a keeper that is new decides nothing before all workers have come, or a second is over', async t => {
  for (const wait of [0, 1_000]) {
    const clock = new TestClock()
    const counts = new HeldCounts({ processes: 2, clock })
    const quiet = { recall: () => Promise.resolve([]) }
    const one = counts.join(1, quiet, [{ key: 'a', held: 1 }])
    const ask = async () => one.hold([{ key: 'a', held: 1, limit: 2, want: 1 }])
    t.strictSame(await ask(), [null])
    if (wait === 0) counts.join(2, quiet, [{ key: 'a', held: 1 }])
    clock.advance(wait)
    t.match(await ask(), [{ granted: wait === 0 ? 0 : 1, others: wait === 0 ? 1 : 0 }])
  }
})

t.test('after a smaller limit each worker keeps its part, and all parts are the limit', async t => {
  const { all } = await fourWorkers(t)
  const held = [7, 5, 1, 2]
  for (const [i, count] of held.entries())
    for (let n = 0; n < count; n += 1) t.equal(await all[i]!.take('a', 20), true)
  await Promise.all(all.map(async one => one.part('a', 14)))
  const parts = await Promise.all(all.map(async one => one.part('a', 6)))
  t.equal(
    parts.reduce((sum, part) => sum + part),
    6,
  )
  t.ok(
    parts.every((part, i) => Math.abs(part - (held[i]! * 6) / 15) < 1),
    parts.join(),
  )
  for (const [i, part] of parts.entries()) for (let n = held[i]!; n > part; n -= 1) all[i]!.free('a')
  await until('all have heard', async () =>
    (await Promise.all(all.map(async one => one.part('a', 6)))).every(part => part === Infinity),
  )
  t.equal(await takeEach(all, 4, 6), 0)
  t.equal(await takeEach(all, 4, 7), 1)
})

t.test('a subscription that nobody uses on one worker ends for one on another', async t => {
  const { workers } = await fourWorkers(t)
  const [one, two] = workers.map(worker => new SubscriptionSlots(worker.of('subscriptions')))
  t.equal(await one!.take('a', 1), true)
  t.equal(await two!.take('a', 1), false)
  const kept = {
    end: () => {
      if (one!.unkeep('a', kept)) one!.free('a')
      return Promise.resolve()
    },
  }
  one!.keep('a', kept)
  t.equal(await two!.take('a', 1), true)
  t.equal(await one!.take('a', 1), false)
})

t.test('a worker that does not answer counts with what it said last', async t => {
  const counts = new HeldCounts()
  const silent = counts.join(1, { recall: () => new Promise(() => undefined) }, [{ key: 'a', held: 2 }])
  const other = counts.join(2, { recall: () => Promise.resolve([0]) })
  const ask = async (want: number) => other.hold([{ key: 'a', held: 0, limit: 3, want }])
  t.match(await ask(1), [{ granted: 1, others: 2 }])
  t.match(await ask(2), [{ granted: 1, others: 2 }])
  silent.leave()
  t.match(await ask(3), [{ granted: 3, others: 0 }])
})

t.test('bug: who held none forgot the others of whom it had heard, while the store was away', async t => {
  const clock = new TestClock()
  const counts = new HeldCounts()
  const state = { isAway: false }
  const [one, two] = [1, 2].map(slot => {
    const store: HoldingStore = {
      hold: questions => {
        if (state.isAway) throw new Error('away')
        return member.hold(questions)
      },
    }
    const holdings: SharedHoldings = new SharedHoldings({ clock, store, every: 25, again: 3_000 })
    const member = counts.join(slot, holdings)
    return holdings.of('connections')
  }) as [Holdings, Holdings]
  const pass = async (ms: number): Promise<void> => {
    for (let at = 0; at < ms; at += 500) {
      clock.advance(500)
      await new Promise(setImmediate)
    }
  }
  const take = async (of: Holdings, count: number): Promise<number> => {
    let taken = 0
    for (let i = 0; i < count; i += 1) if (await of.take('a', 4)) taken += 1
    return taken
  }
  t.equal(await take(one, 3), 3)
  t.equal(await take(two, 1), 1)
  two.free('a')
  await pass(6_000)
  state.isAway = true
  await pass(500)
  t.equal(await take(two, 5), 1, 'the other held three')
  two.free('a')
  await pass(60_000)
  t.equal(await take(two, 5), 4, 'and has none by now, for all that is known')
  for (let i = 0; i < 4; i += 1) two.free('a')
  for (let i = 0; i < 3; i += 1) one.free('a')
  state.isAway = false
  await pass(3_500)
  t.equal(counts.held('{a}:connections'), 0)
  t.equal(await take(two, 5), 4)
})

t.test('reports of many share a message, and nobody is remembered who holds nothing', async t => {
  const clock = new TestClock()
  const counts = new HeldCounts()
  const said: (readonly HoldingQuestion[])[] = []
  const holdings = new SharedHoldings({
    clock,
    every: 25,
    store: {
      hold: questions => {
        said.push(questions)
        return member.hold(questions)
      },
    } satisfies HoldingStore,
  })
  const member = counts.join(1, holdings)
  const one = holdings.of('connections')
  t.strictSame(await Promise.all(['a', 'b'].map(async holder => one.take(holder, 5))), [true, true])
  said.length = 0
  one.free('a')
  one.free('b')
  clock.advance(25)
  t.match(said, [[{ key: '{a}:connections', held: 0 }, { held: 0 }]])
  await new Promise(setImmediate)
  t.equal(counts.held('{a}:connections'), 0)
  clock.advance(100)
  t.equal(said.length, 1, 'nothing more to say')
  t.strictSame(holdings.hello(), [])
})
