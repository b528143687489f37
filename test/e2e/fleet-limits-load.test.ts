/** Two gateways of two workers each that share their limits over Redis. */
import { Agent } from 'node:http'
import t from 'tap'
import { newBucket, take } from '../../src/limits/bucket.ts'
import { message } from '../support/access.ts'
import type { Access } from '../support/access.ts'
import { startFleet } from '../support/copied-gateways.ts'
import { result } from '../support/node-replies.ts'
import { startNode } from '../support/scripted-node.ts'
import { noServers, startRedis } from '../support/servers.ts'
import { openClient } from '../support/socket-client.ts'
import { until } from '../support/until.ts'
import { crewOf } from '../support/workers.ts'

if (noServers !== false) {
  t.plan(0, noServers)
  process.exit(0)
}

const PLANS = {
  slow: { tiers: ['any'], rate: { perSecond: 50, burst: 100 } },
  batches: { tiers: ['any'], maxBatch: 100, rate: { perSecond: 100, burst: 200 } },
  counted: {
    tiers: ['any'],
    rate: { perSecond: 100_000, burst: 100_000 },
    quota: { requests: 300, every: '30d' },
  },
  sockets: {
    tiers: ['any'],
    rate: { perSecond: 100_000, burst: 100_000 },
    ws: { connections: 10, subscriptions: 10 },
  },
}

const node = await startNode(t, { chainId: 1001 })
node.on('eth_gasPrice', result('"0x1"'))
const redis = await startRedis(t)
const fleet = await startFleet(
  t,
  {
    networks: { alpha: { chainId: 1001 } },
    routes: [{ id: 'alpha-a', network: 'alpha', http: node.url, ws: node.url.replace('http', 'ws') }],
    plans: PLANS,
    // A longer timeout than by default: other tests run beside this one.
    gateway: { workers: 2, redis: { url: redis.url, timeout: '500ms' } },
  },
  { plans: Object.keys(PLANS) },
)
await Promise.all(fleet.gateways.map(gateway => crewOf(gateway, 2)))

/** Why each call was refused, or `served`. */
async function outcome(access: Access, agent?: Agent): Promise<string> {
  const { text } = await access.post(message('eth_gasPrice'), agent === undefined ? {} : { agent })
  const { result, error } = JSON.parse(text)
  return result === undefined ? String(error.data.reason) : 'served'
}

t.test('a rate holds over all workers of both: a flood from rest gets what one bucket gives', async t => {
  const accesses = fleet.accesses['slow']!
  const agents = accesses.map(() => new Agent({ keepAlive: true, maxSockets: 32 }))
  const begin = Date.now()
  const sent: { readonly at: number; readonly outcome: string }[] = []
  await Promise.all(
    Array.from({ length: 64 }, async (_, i) => {
      while (Date.now() - begin < 5_000) {
        const at = Date.now()
        sent.push({ at, outcome: await outcome(accesses[i % 2]!, agents[i % 2]) })
      }
    }),
  )
  for (const agent of agents) agent.destroy()
  // What one bucket gives of what could be sent: beside other tests that may be little.
  const { rate } = PLANS.slow
  const bucket = newBucket(rate, begin)
  const inOrder = sent.sort((a, b) => a.at - b.at)
  const exact = inOrder.filter(({ at }) => take(bucket, rate, 1, at) === 0).length
  const admitted = sent.filter(one => one.outcome === 'served').length
  t.strictSame(
    sent.filter(one => !['served', 'rate_limited'].includes(one.outcome)),
    [],
  )
  t.ok(
    Math.abs(admitted - exact) <= exact * 0.05 + 2,
    `${admitted} of ${exact.toFixed(0)}, ${sent.length} offered`,
  )
})

t.test('no call of a batch below the rate is refused, whichever gateway it comes to', async t => {
  const accesses = fleet.accesses['batches']!
  const begin = Date.now()
  const refused: unknown[] = []
  for (let i = 0; Date.now() - begin < 5_000; i += 1) {
    const batch = Array.from(
      { length: 20 },
      (_, id) => JSON.parse(message('eth_gasPrice', [], id)) as unknown,
    )
    const { text } = await accesses[(i * 7) % 2]!.post(JSON.stringify(batch))
    for (const { error } of JSON.parse(text)) if (error !== undefined) refused.push(error.data)
    // 80 % of the rate.
    const due = begin + (i + 1) * 250
    await new Promise(resolve => setTimeout(resolve, Math.max(0, due - Date.now())))
  }
  t.strictSame(refused, [])
})

t.test('a quota is spent to its last unit by both, and never beyond', async t => {
  const accesses = fleet.accesses['counted']!
  const all = await Promise.all(Array.from({ length: 400 }, (_, i) => outcome(accesses[i % 2]!)))
  const served = (): number => all.filter(one => one === 'served').length
  t.ok(served() >= 270 && served() <= 300, `${served()} of 300 in a flood`)
  // What others had in reserve comes back.
  await until('the rest comes back', async () => {
    all.push(await outcome(accesses[all.length % 2]!))
    return served() === 300
  })
  for (let i = 0; i < 20; i += 1) all.push(await outcome(accesses[i % 2]!))
  t.equal(served(), 300)
  t.strictSame(new Set(all), new Set(['served', 'quota_exhausted']))
  const { quota } = await accesses[1]!.managed('service_account')
  t.match(quota, { used: 300 }, 'either says what both have used')
})

t.test('sockets of an account are counted over both, also when they are opened at once', async t => {
  const accesses = fleet.accesses['sockets']!
  const refused: string[] = []
  const open = async (i: number) =>
    openClient(t, accesses[i % 2]!).catch((error: unknown) => {
      refused.push(`${i % 2}: ${String(error)}`)
      return null
    })
  const opened = (await Promise.all(Array.from({ length: 24 }, (_, i) => open(i)))).filter(
    one => one !== null,
  )
  t.equal(opened.length, 10, refused.join('; '))
  opened[0]!.socket.close()
  await opened[0]!.closed
  const next = await until('the place is free', async () => (await open(1)) ?? undefined)
  t.ok(next)
  t.equal(await open(0), null)
})

t.test('both say what they asked Redis', async t => {
  for (const gateway of fleet.gateways) {
    const metrics = await (await fetch(`${gateway.adminUrl}/metrics`)).text()
    t.match(metrics, /^tollgate_limit_asks_total\{result="answered"\} [1-9]/m)
    t.match(metrics, /^tollgate_limit_store_away 0$/m)
    t.match(metrics, /^tollgate_limit_wait_seconds_count [1-9]/m)
  }
})
