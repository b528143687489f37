import t from 'tap'
import { setTimeout as pause } from 'node:timers/promises'
import { message } from '../support/access.ts'
import { createAccess } from '../support/accounts.ts'
import { allCapabilities } from '../support/config-files.ts'
import { Gate } from '../support/gate.ts'
import { startGateway } from '../support/gateway.ts'
import { metric, metricIs } from '../support/metrics.ts'
import { echo, error, held, html, resetBeforeReply, result } from '../support/node-replies.ts'
import { observe } from '../support/observe.ts'
import { rawItems, rawMember } from '../support/raw-json.ts'
import { refusedItem } from '../support/refusals.ts'
import { startSocketNode } from '../support/scripted-socket-node.ts'
import { openClient } from '../support/socket-client.ts'

const node = await startSocketNode(t, { chainId: 1001 })
const first = await startSocketNode(t, { chainId: 1002 })
const second = await startSocketNode(t, { chainId: 1002 })
const solanaNode = await startSocketNode(t)
const everything = ['any', 'paid']
const rate = { perSecond: 100_000, burst: 100_000 }
const ws = { connections: 1_000, subscriptions: 10 }
const gateway = await startGateway(t, {
  networks: {
    alpha: { chainId: 1001, public: true, share: false },
    twofold: { chainId: 1002 },
    sol: { family: 'solana', chainId: 'solana-test' },
  },
  routes: [
    {
      id: 'alpha-a',
      network: 'alpha',
      http: node.url,
      ws: node.wsUrl,
      capabilities: allCapabilities,
      limits: { inFlight: 2_000 },
    },
    { id: 'twofold-a', network: 'twofold', http: first.url, ws: first.wsUrl, priority: 1 },
    { id: 'twofold-b', network: 'twofold', http: second.url, priority: 2 },
    { id: 'sol-a', network: 'sol', http: solanaNode.url, ws: solanaNode.wsUrl },
  ],
  plans: {
    paid: { tiers: everything, rate, maxBatch: 100, ws },
    tight: { tiers: everything, rate: { perSecond: 1, burst: 20 }, maxBatch: 100, ws },
    small: { tiers: everything, rate, quota: { requests: 20, every: '30d' }, maxBatch: 100, ws },
  },
})
node.on('web3_sha3', echo)
const access = await createAccess(gateway, 'paid', 'alpha')
const one = message('web3_sha3', ['0x00'])
const twenty = message('debug_traceBlockByNumber', ['latest'])

t.test('a call goes to another route when one fails, and is charged once', async t => {
  const own = await access.another('twofold')
  const client = await openClient(t, own)
  second.on('eth_call', echo)
  const params = [{ to: `0x${'ab'.repeat(20)}` }, 'latest']
  for (const ailment of [html, resetBeforeReply, error('{"code":-32005,"message":"limit exceeded"}')]) {
    first.on('eth_call', ailment)
    const seen = await observe(own, second, () => client.call('eth_call', params))
    t.strictSame(seen.value.result, params)
    t.equal(seen.sent.length, 1)
    t.equal(seen.requests, 1)
    t.equal(seen.calls, 1)
  }
  await first.close()
  t.match(await client.call('eth_call', params), { result: params })
})

t.test('calls of a socket never go over a socket of the node', async t => {
  const requests = () => node.socketRequests.length + solanaNode.socketRequests.length
  const before = requests()
  const client = await openClient(t, access)
  t.match(await client.call('web3_sha3', ['0x00']), { result: ['0x00'] })
  t.match(await client.call('eth_chainId'), { result: '0x3e9' })
  const onSolana = await openClient(t, await access.another('sol'))
  t.match(await onSolana.call('getSlot'), { result: 0x1000 })
  t.equal(requests(), before)
})

t.test('management works over a socket, alone and in a batch', async t => {
  const own = await createAccess(gateway, 'paid', 'alpha')
  const client = await openClient(t, own)
  const created = await client.call('service_createEndpoint', [{ chain: 'alpha', name: 'by socket' }])
  t.match(created.result, { chain: 'alpha', name: 'by socket', status: 'active' })
  t.match(await client.call('service_createEndpoint', [{ chain: 'nope' }]), {
    error: { code: -32602, message: 'Invalid chain' },
  })
  const batch = [
    message('service_listEndpoints', [], 1),
    message('web3_sha3', ['0x00'], 2),
    message('service_deleteEndpoint', [{ endpointId: created.result.endpointId }], 3),
    message('service_supportedNetworks', [], 4),
  ]
  const replies = JSON.parse(await (await openClient(t, own)).exchange(`[${batch.join()}]`))
  t.match(replies, [
    { id: 1, result: { total: 2 } },
    { id: 2, result: ['0x00'] },
    { id: 3, result: { deleted: true } },
    { id: 4, result: { networks: [{ wss: true }, { wss: true }, { wss: true }] } },
  ])
  t.match(await client.call('service_listEndpoints'), { result: { total: 1 } })
  t.same(await own.usage(), { requests: 1, calls: 1 })
})

t.test('on the public route only the list of networks is managed', async t => {
  const client = await openClient(t, `ws://127.0.0.1:${gateway.port}/alpha/v1/rpc/public`)
  t.equal((await client.call('service_supportedNetworks')).result.networks.length, 3)
  refusedItem(t, await client.exchange(message('service_listEndpoints')), {
    reason: 'invalid_key',
    id: '1',
  })
})

t.test('rate and quota are those of the account, whatever carries the call', async t => {
  const tight = await createAccess(gateway, 'tight', 'alpha')
  const hurried = await openClient(t, tight)
  t.equal((await tight.post(twenty)).status, 200)
  refusedItem(t, await hurried.exchange(twenty), { reason: 'rate_limited', id: '1' })
  t.same(await tight.usage(), { requests: 20, calls: 1 })

  const small = await createAccess(gateway, 'small', 'alpha')
  const poor = await openClient(t, small)
  t.match(await poor.exchange(twenty), '"result"')
  refusedItem(t, await poor.exchange(one), { reason: 'quota_exhausted', id: '1' })
  t.equal(JSON.parse((await small.post(one)).text).error.data.reason, 'quota_exhausted')
  t.match(await poor.call('service_account'), { result: { quota: { used: 20 } } })
})

t.test('500 clients that all use id 1 each get their own answer', async t => {
  // Answers come back in another order than the calls went out.
  node.on('web3_sha3', async (request, response) => {
    await pause(Math.random() * 40)
    echo(request, response)
  })
  const clients = await Promise.all(Array.from({ length: 500 }, () => openClient(t, access)))
  t.equal(await metric(gateway, 'tollgate_ws_connections', { network: 'alpha' }), 500)
  const seen = await observe(access, node, async () => {
    for (let round = 0; round < 3; round++)
      for (const [i, client] of clients.entries()) client.send(message('web3_sha3', [`${i}/${round}`]))
    await Promise.all(clients.map(client => client.when('three answers', () => client.frames.length >= 3)))
  })
  t.equal(seen.sent.length, 1_500)
  t.equal(seen.requests, 1_500)
  for (const [i, { frames }] of clients.entries())
    if (
      !t.strictSame(
        frames.map(frame => [rawMember(frame, 'id'), rawMember(frame, 'result')]).sort(),
        [0, 1, 2].map(round => ['1', `["${i}/${round}"]`]),
        `what client ${i} got`,
      )
    )
      break
  for (const client of clients) client.socket.close()
  await Promise.all(clients.map(({ closed }) => closed))
  node.on('web3_sha3', echo)
})

t.test('a client with many calls in flight gets each answer once, under its id', async t => {
  const client = await openClient(t, access)
  const gates = Array.from({ length: 100 }, () => new Gate())
  node.on('eth_getBlockReceipts', async (request, response) => {
    await gates[Number(JSON.parse(request.params)[0])]!.pass()
    echo(request, response)
  })
  const before = node.count('eth_getBlockReceipts')
  for (const i of gates.keys())
    client.send(message('eth_getBlockReceipts', [`0x${i.toString(16)}`], `id ${i}`))
  await node.arrived('eth_getBlockReceipts', before + 100)
  t.same(client.frames, [])
  for (let i = gates.length - 1; i >= 0; i--) {
    gates[i]!.open()
    t.strictSame(JSON.parse(await client.next()), {
      jsonrpc: '2.0',
      id: `id ${i}`,
      result: [`0x${i.toString(16)}`],
    })
  }
})

t.test('of one socket 100 calls are in flight, more are not started', async t => {
  const gate = new Gate()
  node.on('eth_getBlockReceipts', held(gate, echo))
  const before = node.count('eth_getBlockReceipts')
  const arrived = () => node.count('eth_getBlockReceipts') - before
  const other = await openClient(t, access)
  // Whatever the gateway had sent at the same time would have arrived before these are answered.
  const otherCalls = async () => {
    for (let i = 0; i < 10; i++) t.match(await other.call('web3_sha3', ['0x00']), { result: ['0x00'] })
  }
  const client = await openClient(t, access)
  const seen = await observe(access, node, async () => {
    for (let i = 0; i < 300; i++) client.send(message('eth_getBlockReceipts', ['latest'], i))
    await node.arrived('eth_getBlockReceipts', before + 100)
    await otherCalls()
    t.equal(arrived(), 100)
    gate.releaseOne()
    await node.arrived('eth_getBlockReceipts', before + 101)
    await otherCalls()
    t.equal(arrived(), 101)
    gate.open()
    await client.when('300 answers', () => client.frames.length >= 300)
  })
  const ids = client.frames.map(frame => Number(rawMember(frame, 'id')))
  t.strictSame(
    ids.sort((a, b) => a - b),
    Array.from({ length: 300 }, (_, i) => i),
  )
  t.equal(seen.requests, 300 * 3 + 20)
})

t.test('a batch keeps its order while other frames overtake it', async t => {
  const gate = new Gate()
  node.on('eth_getBlockReceipts', held(gate, result('[]')))
  const client = await openClient(t, access)
  const items = Array.from({ length: 10 }, (_, i) =>
    i % 2 === 0 ? message('eth_getBlockReceipts', ['latest'], i) : message('web3_sha3', [`${i}`], i),
  )
  client.send(`[${items.join()}]`)
  t.match(await client.exchange(message('web3_sha3', ['overtakes'], 'o')), '"overtakes"')
  gate.open()
  t.strictSame(
    rawItems(await client.next()),
    items.map((_, i) => `{"jsonrpc":"2.0","id":${i},"result":${i % 2 === 0 ? '[]' : `["${i}"]`}}`),
  )
})

t.test('calls that a client abandoned are charged all the same', async t => {
  const gate = new Gate()
  node.on('eth_getBlockReceipts', held(gate, result('[]')))
  const own = await createAccess(gateway, 'paid', 'alpha')
  const before = node.count('eth_getBlockReceipts')
  const sockets = await metric(gateway, 'tollgate_ws_connections', { network: 'alpha' })
  const client = await openClient(t, own)
  for (let i = 0; i < 10; i++) client.send(message('eth_getBlockReceipts', ['latest'], i))
  await node.arrived('eth_getBlockReceipts', before + 10)
  client.socket.terminate()
  await metricIs(gateway, 'tollgate_ws_connections', { network: 'alpha' }, sockets)
  gate.open()
  t.equal((await own.post(one)).status, 200)
  t.same(await own.usage(), { requests: 31, calls: 11 })
})
