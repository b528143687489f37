import t from 'tap'
import { Agent } from 'node:http'
import { message } from '../support/access.ts'
import { createAccess, withAccounts } from '../support/accounts.ts'
import { fewMethods } from '../support/few-methods.ts'
import { startGateway } from '../support/gateway.ts'
import { result } from '../support/node-replies.ts'
import { startNode } from '../support/scripted-node.ts'
import { until } from '../support/until.ts'
import { crewOf } from '../support/workers.ts'

const WORKERS = 4
const node = await startNode(t, { chainId: 1001 })
node.on('eth_gasPrice', result('"0x1"'))
const gateway = await startGateway(t, {
  networks: { alpha: { chainId: 1001 } },
  routes: [{ id: 'alpha-a', network: 'alpha', http: node.url }],
  methods: fewMethods,
  plans: {
    slow: { tiers: ['any'], rate: { perSecond: 50, burst: 100 } },
    fast: { tiers: ['any'], rate: { perSecond: 5_000, burst: 10_000 } },
    counted: {
      tiers: ['any'],
      rate: { perSecond: 100_000, burst: 100_000 },
      quota: { requests: 300, every: '30d' },
    },
  },
  gateway: { workers: WORKERS },
})
await crewOf(gateway, WORKERS)

t.test('a rate holds over all workers: a flood from rest gets what the bucket gives', async t => {
  const access = await createAccess(gateway, 'slow', 'alpha')
  const agent = new Agent({ keepAlive: true, maxSockets: 64 })
  const begin = Date.now()
  let admitted = 0
  const reasons = new Set<unknown>()
  await Promise.all(
    Array.from({ length: 64 }, async () => {
      while (Date.now() - begin < 4_000) {
        const { result, error } = JSON.parse((await access.post(message('eth_gasPrice'), { agent })).text)
        if (result === undefined) reasons.add(error.data.reason)
        else admitted += 1
      }
    }),
  )
  const exact = 100 + (50 * (Date.now() - begin)) / 1000
  agent.destroy()
  t.strictSame([...reasons], ['rate_limited'])
  t.ok(Math.abs(admitted - exact) <= exact * 0.05, `${admitted} of ${exact.toFixed(0)}`)
})

t.test('bug: a smaller plan let nothing pass for seconds', async t => {
  const access = await createAccess(gateway, 'fast', 'alpha')
  const agent = new Agent({ keepAlive: true, maxSockets: 16 })
  let isOver = false
  const served: number[] = []
  const callers = Array.from({ length: 16 }, async () => {
    while (!isOver) {
      const { result } = JSON.parse((await access.post(message('eth_gasPrice'), { agent })).text)
      if (result !== undefined) served.push(performance.now())
    }
  })
  await until('a good part of its burst is used', () => Promise.resolve(served.length > 1_000))
  await withAccounts(gateway, ({ accounts }) => accounts.change(access.accountId, { plan: 'slow' }))
  const known = performance.now() + 1_000
  await new Promise(resolve => setTimeout(resolve, 4_000))
  isOver = true
  await Promise.all(callers)
  agent.destroy()
  const seconds = (performance.now() - known) / 1_000
  const count = served.filter(at => at > known).length
  t.ok(count >= 50 * seconds * 0.8, `${count} in ${seconds.toFixed(1)} s`)
  t.ok(count <= 100 + 50 * seconds * 1.05, `${count} in ${seconds.toFixed(1)} s`)
})

t.test('bug: an address had twenty bad keys of each worker in one burst', async t => {
  const { origin } = new URL((await createAccess(gateway, 'slow', 'alpha')).url)
  const wrong = await Promise.all(
    Array.from({ length: 100 }, async (_, i) => {
      const reply = await fetch(`${origin}/alpha/v1/rpc/${'0'.repeat(29)}${100 + i}`, {
        method: 'POST',
        body: message('eth_gasPrice'),
        headers: { 'content-type': 'application/json' },
      })
      return ((await reply.json()) as { error: { data: { reason: string } } }).error.data.reason
    }),
  )
  const count = wrong.filter(reason => reason === 'invalid_key').length
  t.ok(count >= 20 && count <= 30, `${count}`)
  t.strictSame(new Set(wrong), new Set(['invalid_key', 'too_many_bad_keys']))
})

t.test(
  'bug: service_account showed what workers hold of a quota as used, and more with each question',
  async t => {
    const access = await createAccess(gateway, 'counted', 'alpha')
    const calls = Array.from({ length: 40 }, () => access.post(message('eth_gasPrice')))
    await Promise.all(calls)
    for (let i = 0; i < 20; i++) t.equal((await access.managed('service_account')).quota.used, 40)
  },
)

t.test('a quota is spent to its last unit over all workers, and never beyond', async t => {
  const access = await createAccess(gateway, 'counted', 'alpha')
  const call = async () => {
    const { result, error } = await access.call('eth_gasPrice')
    return result === undefined ? String(error.data.reason) : 'served'
  }
  const all = await Promise.all(Array.from({ length: 400 }, call))
  const served = () => all.filter(one => one === 'served').length
  t.ok(served() >= 285, `${served()} of 300 in a flood`)
  // What a worker had in reserve comes back to the others.
  for (let i = 0; i < 200 && served() < 300; i++) all.push(await call())
  t.equal(served(), 300)
  t.strictSame(new Set(all), new Set(['served', 'quota_exhausted']))
  t.strictSame(await access.usage(), { requests: 300, calls: 300 })
})
