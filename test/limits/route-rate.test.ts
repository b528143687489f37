/** What several processes together send to a route a second, and what each of them may while nobody can be asked. */
import t from 'tap'
import type { Test } from 'tap'
import { Asking } from '../../src/limits/asking.ts'
import { LocalBuckets } from '../../src/limits/buckets.ts'
import { SharedRate } from '../../src/limits/route-rate.ts'
import { OwnRate } from '../../src/limits/route-rate.ts'
import { TestClock } from '../support/test-clock.ts'

const PROCESSES = 4
const PER_SECOND = 100
const STEP = 5

/** Processes that send to one route, over a store that can go away. */
function open() {
  const clock = new TestClock()
  const buckets = new LocalBuckets(clock, () => 0)
  const state = { isAway: false }
  const rates = Array.from({ length: PROCESSES }, (_, i) => {
    const store = buckets.of(String(i))
    const asking = new Asking({
      store: {
        ask: async questions => {
          if (state.isAway) throw new Error('away')
          return store.ask(questions)
        },
      },
      clock,
      every: 25,
      processes: PROCESSES,
    })
    return new SharedRate(asking, 'eth-a', PER_SECOND, () => PROCESSES)
  })
  /** What is sent in some time where the first `senders` send all that they may, `most` at a time. */
  const send = async (ms: number, senders = PROCESSES, most = 50): Promise<number> => {
    let sent = 0
    for (let at = 0; at < ms; at += STEP) {
      for (const rate of rates.slice(0, senders))
        for (let i = 0; i < most && rate.fits(clock.monotonic()); i += 1) {
          rate.take()
          sent += 1
        }
      clock.advance(STEP)
      await new Promise(setImmediate)
    }
    return sent
  }
  return { clock, state, rates, send }
}

function near(t: Test, sent: number, exact: number): void {
  t.ok(Math.abs(sent - exact) <= exact * 0.05, `${sent} for ${exact}`)
}

t.test('all together send what one would, and one alone all of it', async t => {
  for (const senders of [PROCESSES, 2, 1]) {
    const { send } = open()
    // What a flood from rest sends too much in its first moment is paid back.
    await send(5_000, senders)
    near(t, await send(10_000, senders), 10 * PER_SECOND)
  }
})

t.test('a flood from rest sends little more than the one burst, and pays it back', async t => {
  const { send } = open()
  const first = await send(1_000)
  t.ok(first <= 2.2 * PER_SECOND, `${first} in the first second`)
  near(t, first + (await send(9_000)), 11 * PER_SECOND)
})

t.test('while the store is away each sends its part', async t => {
  const { state, send } = open()
  await send(1_000)
  state.isAway = true
  await send(1_000)
  near(t, await send(10_000), 10 * PER_SECOND)
  near(t, await send(10_000, 1), (10 * PER_SECOND) / PROCESSES)
})

t.test('what has to be sent counts, whether or not it fits', async t => {
  const { clock, rates, send } = open()
  for (let i = 0; i < 3 * PER_SECOND; i += 1) rates[0]!.take()
  t.notOk(rates[0]!.fits(clock.monotonic()))
  const first = await send(1_500)
  t.ok(first <= PER_SECOND, `${first}: those that have sent nothing yet have heard of nothing`)
  near(t, 3 * PER_SECOND + first + (await send(8_500)), 11 * PER_SECOND)
})

t.test('one process keeps to less than one a second', t => {
  const rate = new OwnRate(0.5)
  const fits: number[] = []
  for (let at = 0; at < 10_000; at += 500)
    if (rate.fits(at)) {
      rate.take()
      fits.push(at)
    }
  t.strictSame(fits, [0, 2_000, 4_000, 6_000, 8_000])
  t.end()
})
