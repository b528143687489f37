/** What every implementation of the port LimitStore keeps to: the one in memory, and the same over the keeper's socket. */
import t from 'tap'
import type { Test } from 'tap'
import { LocalBuckets } from '../../src/limits/buckets.ts'
import type { LimitAnswer, LimitQuestion, LimitStore } from '../../src/ports/limit-store.ts'
import { connectWorker, startKeeper } from '../support/keeper.ts'
import { TestClock } from '../support/test-clock.ts'

/** Two processes that ask the same store. */
interface Opened {
  readonly one: LimitStore
  readonly other: LimitStore
  readonly clock: TestClock
}

/** What the ledger says was used of a quota. */
type Used = () => number | null

const implementations: Readonly<Record<string, (t: Test, used: Used) => Promise<Opened>>> = {
  memory: async (_, used) => {
    const clock = new TestClock()
    const buckets = new LocalBuckets(clock, used)
    return Promise.resolve({ one: buckets.of('1'), other: buckets.of('2'), clock })
  },
  keeper: async (t, used) => {
    const clock = new TestClock()
    const { path } = await startKeeper(t, { clock, used })
    const [one, other] = [await connectWorker(t, path), await connectWorker(t, path, { slot: 2 })]
    return { one, other, clock }
  },
}

const bucket = { key: 'a', limit: { perSecond: 10, burst: 20 }, spent: 0, over: 0, want: 0 }
const quota = {
  ...bucket,
  key: 'q',
  limit: { perSecond: 0, burst: 100 },
  quota: { account: 'acc_1', window: { start: 0, end: 3600 }, every: 3_600_000 },
}

for (const [name, make] of Object.entries(implementations)) {
  const opened = async (t: Test, used: Used = () => 0) => {
    const { one, other, clock } = await make(t, used)
    const ask = async (store: LimitStore, question: Partial<LimitQuestion>): Promise<LimitAnswer | null> => {
      const [answer] = await store.ask([{ ...bucket, ...question }])
      return answer ?? null
    }
    return { one, other, clock, ask }
  }

  t.test(`${name}: grants what there is, and no more`, async t => {
    const { one, other, clock, ask } = await opened(t)
    t.strictSame(await ask(one, { want: 15 }), { level: 5, active: 1, granted: 15 })
    t.strictSame(await ask(other, { want: 15 }), { level: 0, active: 2, granted: 5 })
    clock.advance(500)
    t.strictSame(await ask(one, { want: 1 }), { level: 4, active: 2, granted: 1 })
  })

  t.test(`${name}: what was spent is paid back before anything is granted`, async t => {
    const { one, other, clock, ask } = await opened(t)
    await ask(other, { spent: 15 })
    t.strictSame(await ask(one, { spent: 15, want: 1 }), { level: -10, active: 2, granted: 0 })
    clock.advance(1_100)
    t.strictSame(await ask(one, { want: 1 }), { level: 0, active: 2, granted: 1 })
    t.strictSame(await ask(one, { spent: -3 }), { level: 3, active: 2, granted: 0 })
  })

  t.test(`${name}: what came back while it was spent is not lost on a full bucket`, async t => {
    const { one, clock, ask } = await opened(t)
    await ask(one, {})
    clock.advance(10_000)
    t.match(await ask(one, { spent: 12, over: 1_000 }), { level: 18 })
    clock.advance(10_000)
    t.match(await ask(one, { spent: 12, over: 0 }), { level: 8 })
  })

  t.test(`${name}: who is silent for two seconds takes part no more`, async t => {
    const { one, other, clock, ask } = await opened(t)
    await ask(one, {})
    clock.advance(1_999)
    t.match(await ask(other, {}), { active: 2 })
    clock.advance(1)
    t.match(await ask(other, {}), { active: 1 })
  })

  t.test(`${name}: answers many questions in their order`, async t => {
    const { one } = await opened(t)
    const keys = ['x', 'y', 'x']
    t.match(await one.ask(keys.map(key => ({ ...bucket, key, want: 12 }))), [
      { granted: 12 },
      { granted: 12 },
      { granted: 8 },
    ])
    t.strictSame(await one.ask([]), [])
  })

  t.test(`${name}: a quota begins with what was used, and is spared in small parts`, async t => {
    const { one, other, clock, ask } = await opened(t, () => 20)
    t.match(await ask(one, { ...quota, want: 1, spare: 50 }), { granted: 1 + 2, level: 77 }, 'a part of 32')
    t.match(await ask(other, { ...quota, want: 2, spare: 50 }), { granted: 2 + 1, level: 74 }, 'half of that')
    clock.advance(100_000)
    t.match(await ask(one, { ...quota, want: 80 }), { granted: 74, level: 0 }, 'nothing comes back')
    t.match(await ask(one, { ...quota, limit: { perSecond: 0, burst: 150 } }), { level: 50 }, 'another plan')
  })

  t.test(`${name}: a quota that cannot be read has no answer, and the others have`, async t => {
    let used: number | null = null
    const { one } = await opened(t, () => used)
    t.match(await one.ask([quota, { ...bucket, want: 1 }]), [null, { granted: 1 }])
    used = 99
    t.match(await one.ask([{ ...quota, want: 2 }]), [{ granted: 1 }])
  })
}
