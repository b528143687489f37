import t from 'tap'
import { message } from '../support/access.ts'
import { createAccess } from '../support/accounts.ts'
import { fewMethods } from '../support/few-methods.ts'
import { startGateway } from '../support/gateway.ts'
import { metric } from '../support/metrics.ts'
import { startNode } from '../support/scripted-node.ts'

/** Seen: calls that no configured route can serve were charged, committed and given back, one by one. */

const node = await startNode(t, { chainId: 1001, head: 100_000 })
const gateway = await startGateway(t, {
  networks: { alpha: { chainId: 1001, public: true } },
  routes: [{ id: 'alpha-a', network: 'alpha', http: node.url }],
  methods: fewMethods,
  plans: {
    tight: { tiers: ['any', 'paid'], rate: { perSecond: 1, burst: 20 }, maxBatch: 100 },
    public: { tiers: ['any', 'paid'], rate: { perSecond: 1, burst: 20 }, maxBatch: 100 },
  },
})
await gateway.headKnown('alpha')
const missing = message('trace_block', ['latest'])
const old = message('eth_getBalance', [`0x${'11'.repeat(20)}`, '0x1'])

t.test('a call for a capability that no route has touches neither bucket nor journal', async t => {
  const access = await createAccess(gateway, 'tight', 'alpha')
  await access.usage()
  const commits = await metric(gateway, 'tollgate_journal_commit_seconds_count')
  for (let i = 0; i < 60; i++) {
    const reply = await access.post(i % 2 === 0 ? missing : old)
    const { error } = JSON.parse(reply.text)
    t.equal(error.data.reason, 'capability_missing')
    if (error.data.reason !== 'capability_missing') break
  }
  t.equal(await metric(gateway, 'tollgate_journal_commit_seconds_count'), commits, 'nothing was committed')
  t.same(await access.usage(), { requests: 0, calls: 0 })
})

t.test('in one batch too, however small the bucket', async t => {
  const access = await createAccess(gateway, 'tight', 'alpha')
  const items = Array.from({ length: 100 }, (_, id) => message('trace_block', ['latest'], id))
  const replies: any[] = JSON.parse((await access.post(`[${items.join()}]`)).text)
  for (const { error } of replies) t.equal(error.data.reason, 'capability_missing')
})

t.test('on the public route it leaves the bucket of the address as it was', async t => {
  const post = (body: string) => gateway.send({ path: '/alpha/v1/rpc/public', body })
  const before = await post(message('web3_sha3', ['0x00']))
  for (let i = 0; i < 30; i++)
    t.equal(JSON.parse((await post(missing)).text).error.data.reason, 'capability_missing')
  const after = await post(message('web3_sha3', ['0x00']))
  t.ok(
    Number(after.headers['x-ratelimit-remaining']) >= Number(before.headers['x-ratelimit-remaining']) - 1,
    'only the call between them was paid for',
  )
})
