import t from 'tap'
import { message } from '../support/access.ts'
import { createAccess } from '../support/accounts.ts'
import { startGateway } from '../support/gateway.ts'
import { reply, result } from '../support/node-replies.ts'
import { startSocketNode } from '../support/scripted-socket-node.ts'
import { openClient } from '../support/socket-client.ts'

/** Seen: calls of methods that cost nothing were free of any limit, by the hundred thousand. */

const node = await startSocketNode(t, { chainId: 1001, head: 100 })
node.on('eth_newBlockFilter', result('"0x1"'))
const gateway = await startGateway(t, {
  networks: { alpha: { chainId: 1001, public: true } },
  routes: [{ id: 'alpha-a', network: 'alpha', http: node.url, ws: node.wsUrl }],
  methods: `notification: { cost: 1 }
families:
  evm:
    eth_chainId: { cost: 0, answer: chainId, params: [0, 0] }
    eth_syncing: { answer: 'false', params: [0, 0] }
    web3_clientVersion: { cost: 0, params: [0, 0] }
    eth_newBlockFilter: { cost: 0, params: [0, 0], sticky: create }
    eth_uninstallFilter: { cost: 0, params: [1, 1], sticky: end }
    eth_subscribe: { cost: 0, needs: [ws], subscribe: eth_unsubscribe }
`,
})

/** Reasons of the refusals among the replies to so many calls in batches, and how many calls were answered. */
async function flood(send: (body: string) => Promise<{ text: string }>, method: string, calls: number) {
  let answered = 0
  const refusals: any[] = []
  for (let sent = 0; sent < calls; sent += 20) {
    const items = Array.from({ length: 20 }, (_, id) => message(method, [], id))
    const replies = JSON.parse((await send(`[${items.join()}]`)).text)
    for (const { error } of replies) {
      if (error === undefined) answered += 1
      else refusals.push(error.data)
    }
  }
  return { answered, refusals }
}

for (const method of ['eth_chainId', 'web3_clientVersion'])
  t.test(`${method} at cost 0 takes from the management bucket of the account`, async t => {
    const access = await createAccess(gateway, 'paid', 'alpha')
    const begin = performance.now()
    const { answered, refusals } = await flood(body => access.post(body), method, 400)
    const seconds = (performance.now() - begin) / 1000
    t.ok(answered >= 30, `${answered} calls are answered`)
    t.ok(answered <= 30 + 10 * seconds + 1, `${answered} calls are answered in ${seconds} s`)
    t.ok(refusals.length > 0)
    for (const { reason, retryAfterMs, limit } of refusals.slice(0, 3)) {
      t.equal(reason, 'rate_limited')
      t.ok(retryAfterMs > 0)
      t.equal(limit, 10)
    }
    const managed = await flood(body => access.post(body), 'service_supportedNetworks', 20)
    t.ok(managed.refusals.length > 0, 'management shares the bucket')
    t.equal((await access.call('eth_syncing')).result, false, 'what costs something is served beside it')
    t.same(await access.usage(), { requests: 1, calls: answered + 1 })
  })

t.test('a refused call of cost 0 gives its token back', async t => {
  const access = await createAccess(gateway, 'paid', 'alpha')
  node.on('web3_clientVersion', reply(500, 'no'))
  for (let i = 0; i < 40; i++)
    t.not(
      JSON.parse((await access.post(message('web3_clientVersion'))).text).error?.data?.reason,
      'rate_limited',
    )
})

t.test('on the public route it takes one from the bucket of the address', async t => {
  const plans = { public: { tiers: ['any'], rate: { perSecond: 5, burst: 20 }, maxBatch: 20 } }
  const small = await startGateway(t, {
    networks: { alpha: { chainId: 1001, public: true } },
    routes: [{ id: 'alpha-a', network: 'alpha', http: node.url }],
    methods: `families: { evm: { eth_chainId: { cost: 0, answer: chainId } } }\n`,
    plans,
  })
  const begin = performance.now()
  const { answered, refusals } = await flood(
    body => small.send({ path: '/alpha/v1/rpc/public', body }),
    'eth_chainId',
    400,
  )
  const seconds = (performance.now() - begin) / 1000
  t.ok(answered >= 20 && answered <= 20 + 5 * seconds + 1, `${answered} calls are answered in ${seconds} s`)
  t.equal(refusals[0]?.reason, 'rate_limited')
})

t.test('a subscription of one’s own ends for free, another id does not', async t => {
  const access = await createAccess(gateway, 'paid', 'alpha')
  const client = await openClient(t, access)
  // Thirty calls of cost 0 fill the bucket; what ends them may not need any of it.
  const ids: string[] = []
  for (let i = 0; i < 25; i++) ids.push(await client.subscribe('eth_subscribe', ['newHeads']))
  await flood(async text => ({ text: await client.exchange(text) }), 'eth_chainId', 60)
  for (const id of ids) t.equal((await client.call('eth_unsubscribe', [JSON.parse(id)])).result, true)
  await flood(async text => ({ text: await client.exchange(text) }), 'eth_chainId', 60)
  const foreign = await Promise.all(
    Array.from({ length: 40 }, () => client.call('eth_unsubscribe', ['0xabcdef'])),
  )
  t.ok(foreign.some(reply => reply.error.data?.reason === 'rate_limited'))
})

t.test('a filter of one’s own ends for free, another id does not', async t => {
  const access = await createAccess(gateway, 'paid', 'alpha')
  const ids: unknown[] = []
  for (let i = 0; i < 20; i++) ids.push((await access.call('eth_newBlockFilter')).result)
  t.ok(
    ids.every(id => typeof id === 'string'),
    'filters were made',
  )
  await flood(body => access.post(body), 'eth_chainId', 60)
  for (const id of ids)
    t.not((await access.call('eth_uninstallFilter', [id])).error?.data?.reason, 'rate_limited')
  await flood(body => access.post(body), 'eth_chainId', 60)
  const foreign = await Promise.all(
    Array.from({ length: 40 }, () => access.call('eth_uninstallFilter', ['0xabcdef'])),
  )
  t.ok(foreign.some(reply => reply.error?.data?.reason === 'rate_limited'))
})
