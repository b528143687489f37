import t from 'tap'
import { createAccess } from '../support/accounts.ts'
import { fewAndSubscribe } from '../support/few-methods.ts'
import { Gate } from '../support/gate.ts'
import { startGateway } from '../support/gateway.ts'
import { startSocketNode } from '../support/scripted-socket-node.ts'
import { openClient } from '../support/socket-client.ts'

const limit = 20
const node = await startSocketNode(t, { chainId: 77 })
const rate = { perSecond: 1_000_000, burst: 1_000_000 }
const gateway = await startGateway(t, {
  networks: { alpha: { chainId: 77, public: true } },
  routes: [{ id: 'alpha-a', network: 'alpha', http: node.url, ws: node.wsUrl }],
  methods: fewAndSubscribe,
  plans: {
    public: { tiers: ['any'], rate, maxBatch: 20, ws: { connections: 50, subscriptions: 3 } },
    twenty: { tiers: ['any'], rate, maxBatch: 100, ws: { connections: 10, subscriptions: limit } },
  },
})
const filter = (i: number) => ['logs', { address: `0x${i.toString(16).padStart(40, '0')}` }]
const numbered =
  (i: number) =>
  ({ params }: { readonly params: string }) =>
    params.includes(String(filter(i)[1] && JSON.stringify(filter(i)[1])))

/** The most subscriptions that the node ever had at a time. */
let most = 0
node.onSubscribe(() => {
  most = Math.max(most, node.live().length + 1)
  return 'accept'
})

t.test(
  '300 filters one after the other hold no more subscriptions of a node than the plan allows',
  async t => {
    const client = await openClient(t, await createAccess(gateway, 'twenty', 'alpha'))
    most = 0
    for (let i = 0; i < 300; i++) {
      const id = await client.subscribe('eth_subscribe', filter(i))
      t.match(await client.call('eth_unsubscribe', [JSON.parse(id)]), { result: true })
    }
    t.ok(most <= limit, `${most} at a time`)
    t.ok(most > 1, 'what was left is kept for a while, as long as there is room')
    await client.close()
  },
)

t.test('the oldest kept one ends first, and one that another listens to never does', async t => {
  const [churning, other] = [
    await openClient(t, await createAccess(gateway, 'twenty', 'alpha')),
    await openClient(t, await createAccess(gateway, 'twenty', 'alpha')),
  ]
  const opened = await churning.subscribe('eth_subscribe', filter(1_000))
  const joined = await other.subscribe('eth_subscribe', filter(1_000))
  t.match(await churning.call('eth_unsubscribe', [JSON.parse(opened)]), { result: true })
  for (let i = 1_001; i < 1_100; i++) {
    const id = await churning.subscribe('eth_subscribe', filter(i))
    t.match(await churning.call('eth_unsubscribe', [JSON.parse(id)]), { result: true })
    if (i === 1_020)
      t.equal(node.live().filter(numbered(1_001)).length, 1, 'the plan is full, and nothing ended')
    if (i === 1_021) t.equal(node.live().filter(numbered(1_001)).length, 0, 'the oldest has ended')
    if (i === 1_021) t.equal(node.live().filter(numbered(1_002)).length, 1, 'and no other')
  }
  t.equal(node.push('eth_subscribe', '{"data":"0x01"}', numbered(1_000)), 1)
  t.equal((await other.notified(joined, 1)).length, 1)
  for (const client of [churning, other]) await client.close()
})

t.test('who comes back to a kept one needs no other room for it', async t => {
  const client = await openClient(t, await createAccess(gateway, 'twenty', 'alpha'))
  const ids: string[] = []
  for (let i = 2_000; i < 2_000 + limit; i++) ids.push(await client.subscribe('eth_subscribe', filter(i)))
  const before = node.socketRequests.length
  for (let round = 0; round < 5; round++) {
    t.match(await client.call('eth_unsubscribe', [JSON.parse(ids[0]!)]), { result: true })
    ids[0] = await client.subscribe('eth_subscribe', filter(2_000))
  }
  t.equal(node.socketRequests.length, before, 'the node was asked for nothing')
  t.match(await client.call('eth_subscribe', filter(3_000)), {
    error: { data: { reason: 'too_many_subscriptions' } },
  })
  await client.close()
})

t.test('a node that is slow to end what it was asked to end is not asked for more meanwhile', async t => {
  const client = await openClient(t, await createAccess(gateway, 'twenty', 'alpha'))
  // From now on, as they end by themselves ten seconds behind their clients.
  const gate = new Gate()
  node.onUnsubscribe(() => gate.pass())
  for (let i = 4_000; i < 4_000 + limit; i++) {
    const id = await client.subscribe('eth_subscribe', filter(i))
    t.match(await client.call('eth_unsubscribe', [JSON.parse(id)]), { result: true })
  }
  // Those that other tests left are ended too, ten seconds behind them.
  const own = node.subscriptions.slice(-limit).map(({ id }) => id)
  const ended = () =>
    node.socketRequests.filter(
      ({ method, params }) => method === 'eth_unsubscribe' && own.some(id => params.includes(id)),
    ).length
  const before = node.subscriptions.length
  const asked = Array.from({ length: 60 }, (_, i) => client.call('eth_subscribe', filter(5_000 + i)))
  await node.when('the kept ones are being ended', () => ended() === limit)
  const replies = await Promise.all(asked.slice(limit))
  for (const reply of replies) t.match(reply, { error: { data: { reason: 'too_many_subscriptions' } } })
  t.equal(node.subscriptions.length, before, 'nothing new is asked for yet')
  gate.open()
  for (const reply of await Promise.all(asked.slice(0, limit))) t.match(reply, { result: /^0x/ })
  node.onUnsubscribe(() => undefined)
  await client.close()
})

t.test('on the public route the address is who holds them', async t => {
  const url = `ws://127.0.0.1:${gateway.port}/alpha/v1/rpc/public`
  const [first, second] = [await openClient(t, url), await openClient(t, url)]
  const before = node.live().length
  for (let i = 6_000; i < 6_060; i++) {
    const client = i % 2 === 0 ? first : second
    const id = await client.subscribe('eth_subscribe', filter(i))
    t.match(await client.call('eth_unsubscribe', [JSON.parse(id)]), { result: true })
    t.ok(node.live().length <= before + 3)
  }
  for (const client of [first, second]) await client.close()
})
