/** The buckets of all machines as the processes of one see them, while the store of all is away and when it is back. */
import t from 'tap'
import { setImmediate as turn } from 'node:timers/promises'
import { Asking } from '../../src/limits/asking.ts'
import { LocalBuckets } from '../../src/limits/buckets.ts'
import { MachineBuckets } from '../../src/limits/machine-buckets.ts'
import type { Part } from '../../src/limits/part.ts'
import type { LimitStore } from '../../src/ports/limit-store.ts'
import { TestClock } from '../support/test-clock.ts'

/** Milliseconds between two reports of a process to its machine, and of a machine to the store. */
const [PROCESS, MACHINE] = [25, 100]
const limit = { perSecond: 100, burst: 200 }
const one: Part = { key: 'a', limit, units: 1 }

/** Two machines that share a store, of which the first has two processes. */
function open() {
  const clock = new TestClock()
  const state = { isAway: false }
  const all = new LocalBuckets(clock, () => 0)
  const store = (name: string): LimitStore => ({
    ask: async questions => {
      if (state.isAway) throw new Error('away')
      return all.of(name).ask(questions)
    },
  })
  const [machine, other] = ['one', 'other'].map(
    name => new Asking({ store: store(name), clock, every: MACHINE, processes: 2, away: 'part' }),
  ) as [Asking, Asking]
  const buckets = new MachineBuckets(machine, clock)
  const processes = ['first', 'second'].map(
    name => new Asking({ store: buckets.of(name), clock, every: PROCESS, processes: 2 }),
  )
  const pass = async (ms: number): Promise<void> => {
    for (let passed = 0; passed < ms; passed += PROCESS) {
      clock.advance(PROCESS)
      for (let turns = 0; turns < 10; turns += 1) await turn()
    }
  }
  /** So many calls a second at each process; how many were let in. */
  const ask = async (perSecond: number, ms: number): Promise<number> => {
    let taken = 0
    for (let passed = 0; passed < ms; passed += PROCESS) {
      for (const process of processes)
        for (let calls = 0; calls < (perSecond * PROCESS) / 1000; calls += 1)
          if ((await process.take({ ...one })) === 0) taken += 1
      await pass(PROCESS)
    }
    return taken
  }
  return { state, other, pass, ask }
}

t.test(
  'bug: what processes took by themselves while the store was away was bounded by nothing, and a debt once it was back',
  async t => {
    const { state, other, pass, ask } = open()
    await ask(40, 500)
    await pass(4_000)
    state.isAway = true
    await pass(1_000)
    const most = (limit.burst + limit.perSecond * 5) / 2
    const taken = await ask(400, 5_000)
    t.ok(taken > most * 0.9 && taken <= most * 1.05, `${taken} of the ${most} of one of two machines`)
    state.isAway = false
    await pass(1_000)
    const level = await other.ask(one)
    t.ok(level! > limit.burst * 0.9, `what was taken meanwhile is forgiven: ${level} are there`)
    t.equal(await ask(40, 2_000), 160, 'nobody below the limit is refused')
  },
)
