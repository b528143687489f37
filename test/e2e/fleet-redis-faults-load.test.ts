/** Two gateways under load whose Redis hangs, loses its data, and is killed: what they give meanwhile, and how soon they are exact again. */
import { setTimeout as pause } from 'node:timers/promises'
import { connect } from 'node:net'
import { once } from 'node:events'
import t from 'tap'
import type { Test } from 'tap'
import { newBucket, take } from '../../src/limits/bucket.ts'
import { message } from '../support/access.ts'
import { startFleet } from '../support/copied-gateways.ts'
import { result } from '../support/node-replies.ts'
import { startNode } from '../support/scripted-node.ts'
import { noServers, startRedis } from '../support/servers.ts'
import { steadyLoad } from '../support/steady-load.ts'
import type { LoadedCall } from '../support/steady-load.ts'

if (noServers !== false) {
  t.plan(0, noServers)
  process.exit(0)
}

const RATE = { perSecond: 50, burst: 50 }
/** Of each gateway: four times the rate in all. */
const OFFERED = 100
const TIMEOUT = 250

const node = await startNode(t, { chainId: 1001 })
node.on('eth_gasPrice', result('"0x1"'))
const redis = await startRedis(t)
const { gateways, accesses } = await startFleet(
  t,
  {
    networks: { alpha: { chainId: 1001 } },
    routes: [{ id: 'alpha-a', network: 'alpha', http: node.url }],
    plans: {
      slow: { tiers: ['any'], rate: RATE },
      counted: { tiers: ['any'], quota: { requests: 300, every: '30d' } },
    },
    gateway: { redis: { url: redis.url, timeout: `${TIMEOUT}ms` }, log: { level: 'info' } },
  },
  { plans: ['slow', 'counted'] },
)

/** Has all data forgotten. */
async function flush(): Promise<void> {
  const socket = connect(redis.port, '127.0.0.1')
  socket.write('FLUSHALL\r\n')
  await once(socket, 'data')
  socket.destroy()
}

/** Calls at both gateways while something happens; `at` of each is on one clock. */
async function whileLoaded(script: () => Promise<void>): Promise<readonly LoadedCall[]> {
  const state = { isOver: false }
  const loads = accesses['slow']!.map(async access =>
    steadyLoad(
      access,
      OFFERED,
      n => message('eth_chainId', [], n),
      () => state.isOver,
    ),
  )
  await script()
  state.isOver = true
  return (await Promise.all(loads)).flat()
}

function served(calls: readonly LoadedCall[], from: number, to: number): number {
  return calls.filter(({ at, text }) => at >= from && at < to && text.includes('"result"')).length
}

/** What one bucket gives in that time of what could be sent: beside other tests that may be little. */
function exactly(calls: readonly LoadedCall[], from: number, to: number): number {
  const inOrder = [...calls].sort((a, b) => a.at - b.at)
  const bucket = newBucket(RATE, inOrder[0]?.at ?? 0)
  return inOrder.filter(({ at }) => take(bucket, RATE, 1, at) === 0 && at >= from && at < to).length
}

/** Exact to a tenth, in so many milliseconds. */
function isExact(t: Test, calls: readonly LoadedCall[], from: number, to: number, what: string): void {
  const [got, exact] = [served(calls, from, to), exactly(calls, from, to)]
  t.ok(Math.abs(got - exact) <= exact * 0.1 + 2, `${what}: ${got} of ${exact}`)
}

/** Everything was answered, by the limits alone, and nobody waited for Redis. */
function isWell(t: Test, calls: readonly LoadedCall[], from: number): void {
  const reasons = calls.map(({ text }) =>
    text.includes('"result"') ? 'served' : (/"reason":"(\w+)"/.exec(text)?.[1] ?? 'broken'),
  )
  t.strictSame(new Set(reasons), new Set(['served', 'rate_limited']))
  const longest = Math.max(...calls.filter(({ at }) => at >= from - TIMEOUT).map(({ took }) => took))
  t.ok(longest < 2 * TIMEOUT + 1_000, `the longest call took ${longest.toFixed(0)} ms`)
}

t.test('a Redis that hangs for ten seconds', async t => {
  const at = { stopped: 0, continued: 0, end: 0 }
  const calls = await whileLoaded(async () => {
    await pause(4_000)
    at.stopped = performance.now()
    redis.signal('SIGSTOP')
    await pause(10_000)
    redis.signal('SIGCONT')
    at.continued = performance.now()
    await pause(6_000)
    at.end = performance.now()
  })
  isWell(t, calls, at.stopped)
  isExact(t, calls, at.stopped - 2_500, at.stopped, 'before')
  const [given, exact] = [served(calls, at.stopped, at.continued), RATE.perSecond * 10]
  t.ok(given >= exact * 0.75 && given <= exact * 2, `${given} while it hung, of ${exact}`)
  isExact(t, calls, at.continued + 2_000, at.end, 'from two seconds after')
  for (const gateway of gateways) {
    t.match(gateway.printed, /Redis does not answer: limits go by what this gateway knows/)
    t.match(gateway.printed, /Redis answers again/)
    t.equal(gateway.printed.split('Redis does not answer').length, 2, 'it says so once')
  }
})

t.test('a Redis that loses its data: one more burst', async t => {
  const at = { lost: 0, end: 0 }
  const calls = await whileLoaded(async () => {
    await pause(3_000)
    at.lost = performance.now()
    await flush()
    await pause(5_000)
    at.end = performance.now()
  })
  isWell(t, calls, at.lost)
  const [given, exact] = [served(calls, at.lost, at.end), (RATE.perSecond * (at.end - at.lost)) / 1000]
  t.ok(
    given <= exact * 1.1 + RATE.burst && given >= exact * 0.9,
    `${given} of ${exact.toFixed(0)} and ${RATE.burst}`,
  )
  isExact(t, calls, at.lost + 2_000, at.end, 'from two seconds after')
})

t.test('a Redis that is killed, and another one in its place', async t => {
  const at = { killed: 0, back: 0, end: 0 }
  const calls = await whileLoaded(async () => {
    await pause(3_000)
    at.killed = performance.now()
    await redis.kill()
    await pause(3_000)
    await redis.start()
    at.back = performance.now()
    await pause(6_000)
    at.end = performance.now()
  })
  isWell(t, calls, at.killed)
  const [given, exact] = [served(calls, at.killed, at.back), (RATE.perSecond * (at.back - at.killed)) / 1000]
  t.ok(
    given >= exact * 0.75 && given <= exact * 2 + RATE.burst,
    `${given} while it was gone, of ${exact.toFixed(0)}`,
  )
  isExact(t, calls, at.back + 2_500, at.end, 'soon after')
})

t.test('a quota of which Redis knows nothing any more goes by what was charged', async t => {
  const [one, other] = accesses['counted']!
  const spend = async (access: typeof one, count: number): Promise<number> => {
    let served = 0
    for (let i = 0; i < count; i += 1)
      if ((await access!.call('eth_gasPrice')).result !== undefined) served += 1
    return served
  }
  t.equal(await spend(one, 150), 150)
  await flush()
  t.equal(await spend(one, 50), 50)
  t.equal(await spend(other, 60), 60)
  // What the first held in reserve comes back to it.
  await pause(1_500)
  t.equal((await spend(other, 60)) + (await spend(one, 20)), 40)
})
