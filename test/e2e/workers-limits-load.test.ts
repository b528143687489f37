import t from 'tap'
import { Agent } from 'node:http'
import { message } from '../support/access.ts'
import { createAccess } from '../support/accounts.ts'
import { fewMethods } from '../support/few-methods.ts'
import { startGateway } from '../support/gateway.ts'
import { result } from '../support/node-replies.ts'
import { startNode } from '../support/scripted-node.ts'
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
