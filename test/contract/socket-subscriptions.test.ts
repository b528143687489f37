import t, { type Test } from 'tap'
import { setImmediate as turn } from 'node:timers/promises'
import { message, type Access } from '../support/access.ts'
import { createAccess } from '../support/accounts.ts'
import { Gate } from '../support/gate.ts'
import { startGateway } from '../support/gateway.ts'
import { metric } from '../support/metrics.ts'
import { held, result } from '../support/node-replies.ts'
import { rawMember } from '../support/raw-json.ts'
import { refusedItem } from '../support/refusals.ts'
import { hex, ScriptedChain, someAddress, someTopic } from '../support/scripted-chain.ts'
import {
  notificationOf,
  startSocketNode,
  unknownSubscription,
  type ScriptedSocketNode,
} from '../support/scripted-socket-node.ts'
import { openClient, type SocketClient } from '../support/socket-client.ts'
import { until } from '../support/until.ts'

const chain = new ScriptedChain()
const node = await startSocketNode(t, { chainId: 1001, chain })
const solanaNode = await startSocketNode(t)
const picky = await startSocketNode(t, { chainId: 1002 })
const willing = await startSocketNode(t, { chainId: 1002 })
const rate = { perSecond: 100_000, burst: 100_000 }
const tiers = ['any', 'paid']
const gateway = await startGateway(t, {
  networks: {
    alpha: { chainId: 1001, public: true },
    sol: { family: 'solana', chainId: 'solana-test', public: true },
    twofold: { chainId: 1002 },
  },
  routes: [
    {
      id: 'alpha-a',
      network: 'alpha',
      http: node.url,
      ws: node.wsUrl,
      headers: { 'X-Operator': 'operator-secret-3' },
    },
    { id: 'sol-a', network: 'sol', http: solanaNode.url, ws: solanaNode.wsUrl },
    { id: 'twofold-a', network: 'twofold', http: picky.url, ws: picky.wsUrl, priority: 1 },
    { id: 'twofold-b', network: 'twofold', http: willing.url, ws: willing.wsUrl, priority: 2 },
  ],
  plans: {
    public: { tiers: ['any'], rate, maxBatch: 20, ws: { connections: 50, subscriptions: 3 } },
    paid: { tiers, rate, maxBatch: 1_000, ws: { connections: 100, subscriptions: 1_000 } },
    ten: { tiers, rate, maxBatch: 1_000, ws: { connections: 100, subscriptions: 10 } },
    small: {
      tiers,
      rate,
      maxBatch: 100,
      quota: { requests: 10, every: '30d' },
      ws: { connections: 10, subscriptions: 10 },
    },
    // Notifications spend no rate: as many as come are delivered.
    slow: {
      tiers,
      rate: { perSecond: 1, burst: 20 },
      maxBatch: 100,
      ws: { connections: 10, subscriptions: 10 },
    },
  },
})
const create = (plan = 'paid', slug = 'alpha') => createAccess(gateway, plan, slug)
const access = await create()
const onSolana = await create('paid', 'sol')

/** Slots of the Solana node, one after the other. */
let slot = 5_000
const nextSlot = () => {
  slot++
  const raw = `{"parent":${slot - 1},"root":${slot - 32},"slot":${slot}}`
  solanaNode.push('slotSubscribe', raw)
  return raw
}

const families = [
  {
    family: 'evm' as const,
    access,
    node,
    end: 'eth_unsubscribe',
    begin: 'eth_subscribe',
    params: ['newHeads'],
    announce: () => chain.mine().header,
    id: /^"0x[0-9a-f]+"$/,
  },
  {
    family: 'solana' as const,
    access: onSolana,
    node: solanaNode,
    end: 'slotUnsubscribe',
    begin: 'slotSubscribe',
    params: [],
    announce: nextSlot,
    id: /^(0|[1-9]\d{0,15})$/,
  },
]

/** What an account was charged, from service_usage: under one method, or altogether. */
async function chargedFor(by: Access, method?: string): Promise<number> {
  const { rows } = await by.managed('service_usage', [{ by: 'hour' }])
  let sum = 0
  for (const row of rows) if (method === undefined || row.method === method) sum += Number(row.requests)
  return sum
}

/** How many subscribe calls a node got over its sockets. */
const subscribed = (at: ScriptedSocketNode) =>
  at.socketRequests.filter(({ method }) => method.endsWith('ubscribe') && !method.endsWith('nsubscribe'))
    .length

/** Holds the frame of one notification against what the node sent. */
function holdNotification(t: Test, frame: string, method: string, subscription: string, raw: string): void {
  t.equal(rawMember(frame, 'jsonrpc'), '"2.0"')
  t.equal(rawMember(frame, 'method'), `"${notificationOf(method)}"`)
  t.equal(rawMember(frame, 'id'), undefined)
  const params = rawMember(frame, 'params')!
  t.equal(rawMember(params, 'subscription'), subscription)
  t.equal(rawMember(params, 'result'), raw)
}

for (const { family, access, node, begin, end, params, announce, id } of families) {
  t.test(`${family}: what a node sends reaches each subscriber under an id of its own`, async t => {
    const clients = [await openClient(t, access), await openClient(t, access)]
    const subscriptions: string[] = []
    for (const client of [...clients, clients[0]!]) subscriptions.push(await client.subscribe(begin, params))
    for (const subscription of subscriptions) t.match(subscription, id)
    t.equal(new Set(subscriptions).size, 3)
    t.equal(node.live(begin).length, 1, 'one upstream subscription')
    const raw = announce()
    const [first, second, third] = subscriptions
    const expected = [
      [clients[0]!, first!],
      [clients[1]!, second!],
      [clients[0]!, third!],
    ] as const
    for (const [client, subscription] of expected) {
      await client.notified(subscription, 1)
      const frame = client.frames.find(one => one.includes(`"subscription":${subscription}`))
      holdNotification(t, frame!, begin, subscription, raw)
    }
    t.equal(clients[0]!.frames.length, 4)
    t.equal(clients[1]!.frames.length, 2)
    t.match(await clients[0]!.call(end, [JSON.parse(first!)]), { result: true })
    announce()
    await clients[0]!.notified(third!, 2)
    await clients[1]!.notified(second!, 2)
    t.equal(clients[0]!.notifications(first!).length, 1, 'what is ended is silent')
    for (const client of clients) await client.close()
  })

  t.test(`${family}: equal params share, different ones do not, whatever the whitespace`, async t => {
    const client = await openClient(t, access)
    const before = subscribed(node)
    const [a, b] =
      family === 'evm'
        ? [`["logs",{"address":"${someAddress}"}]`, `["logs",{"address":"${someTopic.slice(0, 42)}"}]`]
        : [`["one", {"commitment":"confirmed"}]`, `["two", {"commitment":"confirmed"}]`]
    const method = family === 'evm' ? begin : 'accountSubscribe'
    const frame = (text: string, id: number) =>
      `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${text}}`
    const spaced = a.replace(/([[{:,])/g, '$1 \t\r\n ').replace(/\]$/, ' ]')
    t.strictSame(JSON.parse(spaced), JSON.parse(a))
    for (const [i, text] of [a, spaced, a, b].entries()) {
      client.send(frame(text, i))
      t.match(await client.reply(String(i)), { result: /./ })
    }
    t.equal(subscribed(node), before + 2)
    await client.close()
  })

  t.test(`${family}: a subscription is ended by its owner only, and once`, async t => {
    const [owner, stranger] = [await openClient(t, access), await openClient(t, access)]
    const elsewhere = await openClient(t, await create('paid', family === 'evm' ? 'alpha' : 'sol'))
    const subscription = JSON.parse(await owner.subscribe(begin, params))
    const unknown = JSON.parse(unknownSubscription(end))
    for (const client of [stranger, elsewhere])
      t.strictSame((await client.call(end, [subscription])).error, unknown)
    const invented = family === 'evm' ? ['0x1', '0x0', `0x${'f'.repeat(32)}`] : [0, 1, 999_999_999]
    for (const id of invented) t.strictSame((await owner.call(end, [id])).error, unknown, String(id))
    announce()
    await owner.notified(JSON.stringify(subscription), 1)
    t.strictSame(await owner.call(end, [subscription]), { jsonrpc: '2.0', id: 'call 5', result: true })
    t.strictSame((await owner.call(end, [subscription])).error, unknown)
    for (const client of [owner, stranger, elsewhere]) await client.close()
  })

  t.test(`${family}: params of an unsubscribe that are no id`, async t => {
    const client = await openClient(t, access)
    for (const wrong of [[], [null], [{}], family === 'evm' ? [1] : ['0x1'], ['x', 'y']]) {
      const { error } = await client.call(end, wrong)
      t.ok([-32602, -32000].includes(error?.code), JSON.stringify([wrong, error]))
    }
    await client.close()
  })

  t.test(`${family}: the reply comes before the first notification, also when the node is hasty`, async t => {
    const own = family === 'evm' ? ['newPendingTransactions'] : ['hasty']
    const method = family === 'evm' ? begin : 'accountSubscribe'
    node.onSubscribe(() => ({ before: '"hasty"' }))
    const client = await openClient(t, access)
    client.send(message(method, own, 'hasty'))
    await client.when('two frames', () => client.frames.length >= 2)
    const [reply, notification] = client.frames
    t.match(JSON.parse(reply!), { id: 'hasty', result: /./ })
    const subscription = rawMember(reply!, 'result')!
    holdNotification(t, notification!, method, subscription, '"hasty"')
    node.onSubscribe(() => 'accept')
    await client.close()
  })

  t.test(`${family}: whoever subscribes while the node is asked waits for the same answer`, async t => {
    const gate = new Gate()
    const own = family === 'evm' ? ['syncing'] : ['gated']
    const method = family === 'evm' ? begin : 'accountSubscribe'
    node.onSubscribe(async () => {
      await gate.pass()
      return 'accept' as const
    })
    const before = subscribed(node)
    const clients = await Promise.all(Array.from({ length: 20 }, () => openClient(t, access)))
    const subscribing = clients.map(client => client.subscribe(method, own))
    await node.when('the subscribe call', () => subscribed(node) > before)
    gate.open()
    const subscriptions = await Promise.all(subscribing)
    t.equal(new Set(subscriptions).size, 20)
    t.equal(subscribed(node), before + 1)
    node.push(method, '"to all"', one => one.params === JSON.stringify(own))
    for (const [i, client] of clients.entries())
      t.strictSame(await client.notified(subscriptions[i]!, 1), ['to all'])
    node.onSubscribe(() => 'accept')
    for (const client of clients) await client.close()
  })

  t.test(`${family}: the node's error comes through, is charged, and takes up no room`, async t => {
    const own = await create('ten', family === 'evm' ? 'alpha' : 'sol')
    const client = await openClient(t, own)
    const raw = '{"code":-32602,"message":"Invalid params: filter","data":{"x":18446744073709551615}}'
    node.onSubscribe(() => ({ error: raw }))
    const method = family === 'evm' ? begin : 'accountSubscribe'
    const filter = family === 'evm' ? ['logs', { topics: ['nonsense'] }] : ['nonsense']
    for (let i = 0; i < 15; i++) {
      client.send(message(method, filter, i))
      const frame = await client.next()
      t.equal(rawMember(frame, 'id'), String(i))
      t.equal(rawMember(frame, 'error'), raw)
    }
    node.onSubscribe(() => 'accept')
    t.same(await own.usage(), { requests: 15, calls: 15 })
    t.match(await client.subscribe(begin, params), id, 'what was refused is not counted')
    await client.close()
  })

  t.test(`${family}: an account has only so many subscriptions`, async t => {
    const own = await create('ten', family === 'evm' ? 'alpha' : 'sol')
    const clients = [await openClient(t, own), await openClient(t, await own.another(own.slug))]
    const subscriptions: string[] = []
    for (let i = 0; i < 10; i++) subscriptions.push(await clients[i % 2]!.subscribe(begin, params))
    for (const client of clients)
      refusedItem(t, await last(client, message(begin, params, 'over')), {
        reason: 'too_many_subscriptions',
        family,
        id: '"over"',
      })
    t.match(await clients[0]!.call(end, [JSON.parse(subscriptions[0]!)]), { result: true })
    const again = await clients[1]!.subscribe(begin, params)
    refusedItem(t, await last(clients[0]!, message(begin, params, 'over')), {
      reason: 'too_many_subscriptions',
      family,
      id: '"over"',
    })
    await clients[1]!.close()
    t.equal(await chargedFor(own), 11, 'refusals and unsubscribing cost nothing')
    t.match(again, id)
    const room = async () => (await clients[0]!.call(begin, params)).result !== undefined
    await until('the gateway has seen it close', room)
    await clients[0]!.close()
  })

  t.test(`${family}: 200 subscribe frames that race end at exactly the limit`, async t => {
    const own = await create('ten', family === 'evm' ? 'alpha' : 'sol')
    const clients = await Promise.all(Array.from({ length: 20 }, () => openClient(t, own)))
    const gate = new Gate()
    node.onSubscribe(async () => {
      await gate.pass()
      return 'accept' as const
    })
    const method = family === 'evm' ? begin : 'accountSubscribe'
    const filter = (i: number) =>
      family === 'evm' ? ['logs', { address: hex(i).padEnd(42, '0') }] : [`racing ${i}`]
    for (const [i, client] of clients.entries())
      for (let j = 0; j < 10; j++) client.send(message(method, filter(i * 10 + j), j))
    gate.open()
    await Promise.all(clients.map(client => client.when('ten replies', () => client.frames.length >= 10)))
    const replies: any[] = clients.flatMap(({ frames }) => frames.map(frame => JSON.parse(frame) as unknown))
    t.equal(replies.filter(({ result }) => result !== undefined).length, 10)
    t.equal(replies.filter(({ error }) => error?.data?.reason === 'too_many_subscriptions').length, 190)
    t.same(await own.usage(), { requests: 10, calls: 10 })
    node.onSubscribe(() => 'accept')
    for (const client of clients) await client.close()
  })

  t.test(`${family}: a delivered notification is charged under its own name`, async t => {
    const slug = family === 'evm' ? 'alpha' : 'sol'
    const own = await create('slow', slug)
    const client = await openClient(t, own)
    const subscription = await client.subscribe(begin, params)
    const other = await create('paid', slug)
    const neighbour = await openClient(t, other)
    const neighbours = await neighbour.subscribe(begin, params)
    for (let i = 0; i < 50; i++) announce()
    await client.notified(subscription, 50)
    t.equal(await chargedFor(own, notificationOf(begin)), 50)
    t.equal(await chargedFor(own, begin), 1)
    t.match(await client.call(end, [JSON.parse(subscription)]), { result: true })
    t.equal(await chargedFor(own, end), 0)
    announce()
    announce()
    t.match(await client.call(end, [JSON.parse(subscription)]), { error: {} })
    t.equal((await own.usage()).requests, 51)
    t.equal(client.notifications(subscription).length, 50)
    await neighbour.notified(neighbours, 52)
    t.equal(await chargedFor(other, notificationOf(begin)), 52, 'each account pays for what it got')
    for (const one of [client, neighbour]) await one.close()
  })

  t.test(`${family}: whoever joins while notifications stream hears its id first, and then all`, async t => {
    const clients = await Promise.all(Array.from({ length: 30 }, () => openClient(t, access)))
    let streaming = true
    const sent: string[] = []
    const stream = async () => {
      while (streaming) {
        sent.push(announce())
        await turn()
      }
    }
    const streamed = stream()
    const subscriptions = await Promise.all(clients.map(client => client.subscribe(begin, params)))
    const last = announce()
    sent.push(last)
    streaming = false
    await streamed
    for (const [i, client] of clients.entries()) {
      const told = () => client.frames.slice(1).map(frame => rawMember(rawMember(frame, 'params')!, 'result'))
      await client.when('the last one', () => told().includes(sent.at(-1)))
      t.equal(rawMember(client.frames[0]!, 'result'), subscriptions[i], 'the reply comes first')
      t.strictSame(told(), sent.slice(-told().length), 'and nothing is left out from then on')
      await client.close()
    }
  })

  t.test(`${family}: what a node should not send harms nobody`, async t => {
    const client = await openClient(t, access)
    const subscription = await client.subscribe(begin, params)
    const name = notificationOf(begin)
    const strange = [
      '',
      'x',
      '{',
      '[]',
      '{}',
      'null',
      '1',
      '"x"',
      '{"jsonrpc":"2.0"}',
      '['.repeat(100_000),
      '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"parse error"}}',
      '{"jsonrpc":"2.0","id":999999,"result":true}',
      '{"jsonrpc":"2.0","id":"x","result":"0x0"}',
      `{"jsonrpc":"2.0","method":"${name}"}`,
      `{"jsonrpc":"2.0","method":"${name}","params":null}`,
      `{"jsonrpc":"2.0","method":"${name}","params":{"subscription":"0xdead","result":"strange"}}`,
      `{"jsonrpc":"2.0","method":"${name}","params":{"subscription":12345,"result":"strange"}}`,
      `{"jsonrpc":"2.0","method":"${name}","params":{"subscription":{},"result":"strange"}}`,
      `{"jsonrpc":"2.0","method":"${name}","params":{"result":"strange"}}`,
      Buffer.from('{"jsonrpc":"2.0","id":1,"result":"strange"}'),
    ]
    for (const frame of strange) node.sendAll(frame)
    const raw = announce()
    await client.notified(subscription, 1)
    t.equal(client.frames.length, 2, 'one reply and one notification')
    holdNotification(t, client.frames[1]!, begin, subscription, raw)
    await client.close()
  })

  t.test(`${family}: the public route is told everything and charged nothing`, async t => {
    const slug = family === 'evm' ? 'alpha' : 'sol'
    const billed = () => metric(gateway, 'tollgate_requests_total', { network: slug })
    const before = await billed()
    const url = `ws://127.0.0.1:${gateway.port}/${slug}/v1/rpc/public`
    const [first, second] = [await openClient(t, url), await openClient(t, url)]
    const subscription = await first.subscribe(begin, params)
    for (let i = 0; i < 5; i++) announce()
    await first.notified(subscription, 5)
    // Its limits are those of the address, over all its sockets.
    for (const client of [first, second]) await client.subscribe(begin, params)
    refusedItem(t, await last(second, message(begin, params, 'over')), {
      reason: 'too_many_subscriptions',
      family,
      id: '"over"',
    })
    t.equal(await billed(), before)
    for (const client of [first, second]) await client.close()
  })

  t.test(`${family}: a quota that notifications use up closes 1008`, async t => {
    const own = await create('small', family === 'evm' ? 'alpha' : 'sol')
    const other = await create('paid', family === 'evm' ? 'alpha' : 'sol')
    const poor = await openClient(t, own)
    const rich = await openClient(t, other)
    const subscription = await poor.subscribe(begin, params)
    const others = await rich.subscribe(begin, params)
    for (let i = 0; i < 12; i++) announce()
    t.match(await poor.closedBy('the quota'), { code: 1008, reason: /quota/ })
    t.equal(poor.notifications(subscription).length, 9, 'one for the subscribing, nine are left')
    t.equal((await rich.notified(others, 12)).length, 12)
    t.equal((await own.usage()).requests, 10)
    t.match(await own.managed('service_account'), { quota: { used: 10 } })
    await rich.close()
  })
}

/** Sends a frame and gives the frame that answers it, whatever notifications come in between. */
async function last(client: SocketClient, frame: string): Promise<string> {
  const id = rawMember(frame, 'id')!
  const before = client.frames.length
  const found = () => client.frames.slice(before).find(one => rawMember(one, 'id') === id)
  client.send(frame)
  await client.when(`the answer to ${id}`, () => found() !== undefined)
  return found()!
}

t.test('logs reach only those whose filter they match', async t => {
  const client = await openClient(t, access)
  const other = `0x${'cd'.repeat(20)}`
  const filters = [
    {},
    { address: someAddress },
    { address: [other] },
    { topics: [null] },
    { topics: [[someTopic]] },
  ]
  const subscriptions: string[] = []
  for (const filter of filters) subscriptions.push(await client.subscribe('eth_subscribe', ['logs', filter]))
  const plain = await client.subscribe('eth_subscribe', ['logs'])
  const { logs } = chain.mine([{}, { address: other }, { topic: `0x${'1'.repeat(64)}` }])
  const expected = [
    ...[[0, 1, 2], [0, 2], [1], [0, 1, 2], [0, 1]].map((which, i) => [subscriptions[i]!, which] as const),
    [plain, [0, 1, 2]] as const,
  ]
  for (const [subscription, which] of expected)
    t.strictSame(
      await client.notified(subscription, which.length),
      which.map(i => ({ ...logs[i], removed: false })),
    )
  await client.close()
})

t.test('a reorg that the node itself tells of passes as it is', async t => {
  const client = await openClient(t, access)
  const heads = await client.subscribe('eth_subscribe', ['newHeads'])
  const logs = await client.subscribe('eth_subscribe', ['logs', { address: someAddress }])
  const kept = chain.mine()
  const dropped = chain.mine([{}])
  chain.dropAbove(kept.number)
  const instead = chain.mine([{ data: '0x01' }], 'other')
  t.strictSame(
    (await client.notified(heads, 3)).map(({ hash }) => String(hash)),
    [kept.hash, dropped.hash, instead.hash],
  )
  t.strictSame(await client.notified(logs, 3), [
    { ...dropped.logs[0], removed: false },
    { ...dropped.logs[0], removed: true },
    { ...instead.logs[0], removed: false },
  ])
  await client.close()
})

t.test('subscribing in a batch, and as a notification', async t => {
  const own = await create('ten')
  const client = await openClient(t, own)
  const items = [1, 2].map(id => message('eth_subscribe', ['newHeads'], id))
  const replies: any[] = JSON.parse(await client.exchange(`[${items.join()}]`))
  t.match(replies, [
    { id: 1, result: /^0x/ },
    { id: 2, result: /^0x/ },
  ])
  const { header } = chain.mine()
  for (const { result } of replies) {
    const subscription = JSON.stringify(result)
    await client.notified(subscription, 1)
    holdNotification(
      t,
      client.frames.find(one => one.includes(`"subscription":${subscription}`))!,
      'eth_subscribe',
      subscription,
      header,
    )
  }
  client.send('{"jsonrpc":"2.0","method":"eth_subscribe","params":["newHeads"]}')
  t.match(await client.call('eth_chainId'), { result: '0x3e9' }, 'what has no id is not answered')
  chain.mine()
  for (const { result } of replies) await client.notified(JSON.stringify(result), 2)
  t.equal(client.frames.filter(one => JSON.parse(one).id !== undefined).length, 1)
})

t.test('wrong params of a subscription are refused here, unknown kinds by the node', async t => {
  const client = await openClient(t, access)
  for (const params of [[], ['newHeads', {}, 1], {}])
    refusedItem(t, await last(client, message('eth_subscribe', params, 'wrong')), {
      reason: 'invalid_params',
      id: '"wrong"',
    })
  const onSol = await openClient(t, onSolana)
  for (const method of ['eth_subscribe', 'voteSubscribe', 'nopeSubscribe'])
    refusedItem(t, await last(onSol, message(method, [], method)), {
      reason: 'method_not_found',
      family: 'solana',
      id: `"${method}"`,
    })
  refusedItem(t, await last(client, message('slotSubscribe', [], 'other')), {
    reason: 'method_not_found',
    id: '"other"',
  })
})

t.test('a route that cannot subscribe is passed over', async t => {
  picky.onSubscribe(() => ({ error: '{"code":-32601,"message":"notifications not supported"}' }))
  const client = await openClient(t, await access.another('twofold'))
  const subscription = await client.subscribe('eth_subscribe', ['newHeads'])
  t.equal(willing.live('eth_subscribe').length, 1)
  willing.push('eth_subscribe', '{"number":"0x1001","hash":"0x1"}')
  t.match(await client.notified(subscription, 1), [{ number: '0x1001' }])
})

t.test('the node sees our frames and our headers, nothing of the client', async t => {
  const before = node.socketRequests.length
  const client = await openClient(t, await create(), {
    headers: {
      authorization: 'Bearer client-secret',
      cookie: 'a=client-secret',
      'user-agent': 'client-secret',
      'x-forwarded-for': '203.0.113.7',
    },
    origin: 'https://client-secret.example',
  })
  client.send(
    '{"id":"client-secret","x":"client-secret","jsonrpc":"2.0","method":"eth_subscribe","params":[ "logs",{"topics":[ ]} ]}',
  )
  await client.next()
  const sent = node.socketRequests.slice(before).find(({ params }) => params.includes('topics'))
  t.match(sent?.text, /^\{"jsonrpc":"2\.0","id":\d+,"method":"eth_subscribe","params":\[.*\]\}$/)
  t.ok(node.upgrades.length > 0)
  for (const { url, headers } of node.upgrades) {
    t.equal(url, '/v3/operator-secret-ws?key=operator-secret-2')
    t.equal(headers['x-operator'], 'operator-secret-3')
    t.equal(headers['sec-websocket-extensions'], undefined, 'no compression')
    for (const name of ['authorization', 'cookie', 'origin', 'x-forwarded-for'])
      t.equal(headers[name], undefined)
  }
  const all = JSON.stringify([node.upgrades, node.socketRequests])
  for (const secret of ['client-secret', '203.0.113.7', access.key])
    t.notOk(all.includes(secret), `the node does not see ${secret}`)
})

t.test('nothing secret is printed', t => {
  for (const secret of [access.key, 'operator-secret', 'client-secret'])
    t.notOk(gateway.printed.includes(secret), `not printed: ${secret.slice(0, 8)}…`)
  t.end()
})

t.test('a subscription in a batch sends nothing before the reply that tells its id', async t => {
  const gate = new Gate()
  node.on('web3_sha3', held(gate, result('"0x00"')))
  const client = await openClient(t, await create())
  client.send(`[${message('eth_subscribe', ['newHeads'], 1)},${message('web3_sha3', ['0x00'], 2)}]`)
  await node.arrived('web3_sha3')
  const { header } = chain.mine()
  await turn()
  gate.open()
  const [subscribed] = JSON.parse(await client.next())
  t.match(subscribed, { id: 1, result: /^0x/ }, 'the reply comes first')
  const { params } = JSON.parse(await client.next())
  t.equal(params.subscription, subscribed.result)
  t.equal(params.result.number, JSON.parse(header).number)
})
