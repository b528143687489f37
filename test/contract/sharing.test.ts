/** Equal calls in flight, as clients and operators see them. */
import { once } from 'node:events'
import { request } from 'node:http'
import t from 'tap'
import { message } from '../support/access.ts'
import type { Access } from '../support/access.ts'
import { createAccess, withAccounts } from '../support/accounts.ts'
import { Gate } from '../support/gate.ts'
import { startGateway } from '../support/gateway.ts'
import { metric, metricIs } from '../support/metrics.ts'
import { echo, error, hang, held, result, stream } from '../support/node-replies.ts'
import { startNode } from '../support/scripted-node.ts'
import { openClient, type SocketClient } from '../support/socket-client.ts'
import { openSocket } from '../support/tcp.ts'
import { until, within } from '../support/until.ts'

const chainId = 1001
const node = await startNode(t, { chainId })
const route = (id: string, network: string) => ({
  id,
  network,
  http: node.url,
  ws: node.url.replace('http', 'ws'),
  timeout: '60s',
  capabilities: ['archive', 'debug'],
})
const gateway = await startGateway(t, {
  networks: {
    alpha: {
      chainId,
      methods: {
        ...Object.fromEntries(
          ['eth_getBalance', 'eth_getBlockReceipts', 'eth_getUncleCountByBlockHash'].map(method => [
            method,
            { cost: 10 },
          ]),
        ),
        eth_getCode: { share: false },
      },
    },
    alone: { chainId, share: false },
    short: { chainId },
  },
  routes: [
    route('alpha-a', 'alpha'),
    route('alone-a', 'alone'),
    { ...route('short-a', 'short'), timeout: '300ms' },
  ],
  plans: {
    // So slow that what is left of it shows how many calls were let in.
    slow: { tiers: ['any', 'paid'], rate: { perSecond: 1, burst: 5_000 }, maxBatch: 100 },
    none: { tiers: ['paid'] },
  },
})
for (const slug of ['alpha', 'alone', 'short']) await gateway.headKnown(slug)

/** Resolves when all that was sent before on this socket has been begun. */
async function begun(client: SocketClient): Promise<void> {
  await client.call('eth_chainId')
}

/** Resolves when this many calls that cost 10 were let in of an account on the plan `slow`, which gets back 1 unit a second. */
async function letIn(access: Access, calls: number): Promise<void> {
  let asked = 0
  await until(`${calls} calls are let in`, async () => {
    const { headers } = await access.post(message('eth_chainId'))
    asked += 1
    return Math.round((5_000 - asked - Number(headers['x-ratelimit-remaining'])) / 10) >= calls
  })
}

let used = 0

/** Sends `count` equal calls under ids of their own, and gives the replies by id. */
function frames(client: SocketClient, method: string, params: unknown, count: number): Promise<unknown[]> {
  const ids = Array.from({ length: count }, () => `${method} ${(used += 1)}`)
  client.sendTogether(ids.map(id => message(method, params, id)))
  return Promise.all(ids.map(id => client.reply(JSON.stringify(id))))
}

const shared = (method: string, network = 'alpha') =>
  metric(gateway, 'tollgate_shared_calls_total', { network, method })

t.test('100 at once are one upstream call, 100 ids and 100 charges', async t => {
  const gate = new Gate()
  node.on('eth_getBalance', held(gate, echo))
  const [http, ws] = [
    await createAccess(gateway, 'slow', 'alpha'),
    await createAccess(gateway, 'paid', 'alpha'),
  ]
  const client = await openClient(t, ws)
  const params = ['0x01', '0x5']
  const attempts = await metric(gateway, 'tollgate_attempts_total', { route: 'alpha-a' })
  const first = http.post(message('eth_getBalance', params, 'first'))
  await node.arrived('eth_getBalance')
  const posts = Array.from({ length: 49 }, (_, n) => {
    const body = message('eth_getBalance', params, n)
    return http.post(n % 2 === 0 ? body : body.replaceAll(',', ' , '))
  })
  const replies = frames(client, 'eth_getBalance', params, 50)
  await begun(client)
  await letIn(http, 50)
  gate.open()
  const value = JSON.stringify(params)
  t.equal((await first).text, `{"jsonrpc":"2.0","id":"first","result":${value}}`)
  for (const [n, { status, text }] of (await Promise.all(posts)).entries())
    t.strictSame([status, text], [200, `{"jsonrpc":"2.0","id":${n},"result":${value}}`])
  for (const reply of await replies) t.match(reply, { jsonrpc: '2.0', result: params })
  t.equal(node.count('eth_getBalance'), 1)
  const [own, others] = [await http.usage(), await ws.usage()]
  t.equal(own.requests - (own.calls - 50), 500, 'each pays in full')
  t.strictSame(others, { requests: 501, calls: 51 })
  t.equal(await shared('eth_getBalance'), 99)
  t.equal((await metric(gateway, 'tollgate_attempts_total', { route: 'alpha-a' })) - attempts, 1)
})

t.test('a batch of equal calls is one upstream call', async t => {
  const gate = new Gate()
  const before = node.count('eth_getBalance')
  node.on('eth_getBalance', held(gate, echo))
  const access = await createAccess(gateway, 'slow', 'alpha')
  const params = ['0x02', '0x5']
  const calls = Array.from({ length: 32 }, (_, id) => message('eth_getBalance', params, id))
  const reply = access.post(`[${calls.join(',')}]`)
  // A batch begins its calls over several turns: the first may be answered before the last begins.
  await letIn(access, 32)
  gate.open()
  const replies = calls.map((_, id) => ({ jsonrpc: '2.0', id, result: params }))
  t.strictSame(JSON.parse((await reply).text), replies)
  t.equal(node.count('eth_getBalance') - before, 1)
  const usage = await access.usage()
  t.equal(usage.requests - (usage.calls - 32), 320)
})

t.test("a node's error is everybody's, and charged to everybody", async t => {
  const gate = new Gate()
  const reverted = '{"code":3,"message":"execution reverted","data":"0x01"}'
  node.on('eth_call', held(gate, error(reverted)))
  const access = await createAccess(gateway, 'paid', 'alpha')
  const client = await openClient(t, access)
  const replies = frames(client, 'eth_call', [{ to: '0x01' }, '0x5'], 10)
  await begun(client)
  gate.open()
  for (const reply of await replies) t.match(reply, { error: JSON.parse(reverted) })
  t.equal(node.count('eth_call'), 1)
  t.strictSame(await access.usage(), { requests: 11, calls: 11 })
})

t.test('what is not shared: sends, filters, and what the YAML says', async t => {
  const gate = new Gate()
  const methods = [
    'eth_sendRawTransaction',
    'eth_newFilter',
    'eth_newBlockFilter',
    'eth_getCode',
    'eth_getProof',
  ]
  for (const method of methods) node.on(method, held(gate, result('"0x1"')))
  const [access, alone] = [
    await createAccess(gateway, 'paid', 'alpha'),
    await createAccess(gateway, 'paid', 'alone'),
  ]
  const [client, other] = [await openClient(t, access), await openClient(t, alone)]
  const replies = [
    frames(client, 'eth_sendRawTransaction', ['0x02'], 5),
    frames(client, 'eth_newFilter', [{}], 5),
    frames(client, 'eth_newBlockFilter', [], 5),
    frames(client, 'eth_getCode', ['0x01', '0x5'], 5),
    frames(other, 'eth_getProof', ['0x01', [], '0x5'], 5),
  ]
  for (const method of methods) await node.arrived(method, 5)
  gate.open()
  const [, filters] = await Promise.all(replies)
  t.equal(
    new Set(filters!.map((reply: any): unknown => reply.result)).size,
    5,
    'each has a filter of its own',
  )
  const changes = new Gate()
  node.on('eth_getFilterChanges', held(changes, result('[]')))
  const [{ result: id }] = filters as any[]
  const polls = frames(client, 'eth_getFilterChanges', [id], 5)
  await node.arrived('eth_getFilterChanges', 5)
  changes.open()
  await polls
})

t.test('a leader that leaves leaves the call to the others; when all have left it ends', async t => {
  const access = await createAccess(gateway, 'paid', 'alpha')
  const gate = new Gate()
  let ended: Promise<unknown> | undefined
  node.on('debug_traceTransaction', async (asked, response) => {
    ended = once(response, 'close')
    await held(gate, echo)(asked, response)
  })
  const leave = (params: unknown) => {
    const { port, path } = { port: gateway.port, path: access.path }
    const client = request({ port, path, method: 'POST', headers: { 'content-type': 'application/json' } })
    client.on('error', () => undefined)
    client.end(message('debug_traceTransaction', params))
    return client
  }
  const params = [`0x${'ab'.repeat(32)}`]
  const leader = leave(params)
  await node.arrived('debug_traceTransaction', 1)
  const [one, two] = [await openClient(t, access), await openClient(t, access)]
  const sockets = await metric(gateway, 'tollgate_ws_connections', { network: 'alpha' })
  const replies = frames(one, 'debug_traceTransaction', params, 2)
  two.send(message('debug_traceTransaction', params))
  await Promise.all([begun(one), begun(two)])
  leader.destroy()
  two.socket.terminate()
  await metricIs(gateway, 'tollgate_ws_connections', { network: 'alpha' }, sockets - 1)
  await begun(one)
  gate.open()
  for (const reply of await replies) t.match(reply, { result: params })
  t.equal(node.count('debug_traceTransaction'), 1)
  await until('all are charged', async () => (await access.usage()).calls === 7)

  const second = new Gate()
  node.on('debug_traceTransaction', async (asked, response) => {
    ended = once(response, 'close')
    await held(second, echo)(asked, response)
  })
  const again = leave([`0x${'cd'.repeat(32)}`])
  await node.arrived('debug_traceTransaction', 2)
  one.send(message('debug_traceTransaction', [`0x${'cd'.repeat(32)}`]))
  await begun(one)
  again.destroy()
  one.socket.terminate()
  await within('its end at the node', ended!)
  await until('both are charged', async () => (await access.usage()).calls === 10)
  t.equal(node.count('debug_traceTransaction'), 2)
})

t.test('when the leader fails, one of the others asks again for all', async t => {
  const access = await createAccess(gateway, 'paid', 'short')
  const client = await openClient(t, access)
  let asked = 0
  node.on('eth_getProof', (...call) => (++asked === 1 ? hang : echo)(...call))
  const before = node.count('eth_getProof')
  const replies = await frames(client, 'eth_getProof', ['0x01', [], '0x5'], 5)
  t.match(
    replies[0],
    { error: { data: { reason: 'upstream_timeout' } } },
    'the first one has nobody else to ask',
  )
  for (const reply of replies.slice(1)) t.match(reply, { result: ['0x01', [], '0x5'] })
  t.equal(node.count('eth_getProof') - before, 2)
  t.strictSame(await access.usage(), { requests: 12, calls: 4 }, 'a refusal costs nothing')

  node.on('eth_getProof', hang)
  const refused = await frames(client, 'eth_getProof', ['0x02', [], '0x5'], 5)
  for (const reply of refused) t.match(reply, { error: { data: { reason: 'upstream_timeout' } } })
  t.equal(node.count('eth_getProof') - before, 4, 'what fails twice is refused to all')
  t.strictSame(await access.usage(), { requests: 12, calls: 4 })
})

t.test('a long reply streams to the first, and the others fetch theirs', async t => {
  const gate = new Gate()
  node.on('eth_getBlockReceipts', held(gate, stream(Buffer.alloc(64 * 1024, 'x'), 16)))
  const access = await createAccess(gateway, 'slow', 'alpha')
  const posts = [access.post(message('eth_getBlockReceipts', ['0x5']))]
  await node.arrived('eth_getBlockReceipts')
  for (let n = 0; n < 4; n += 1) posts.push(access.post(message('eth_getBlockReceipts', ['0x5'])))
  await letIn(access, 5)
  t.equal(node.count('eth_getBlockReceipts'), 1)
  gate.open()
  const whole = `{"jsonrpc":"2.0","id":1,"result":"${'x'.repeat(1024 * 1024)}"}`
  for (const { text } of await Promise.all(posts)) t.ok(text === whole)
  t.equal(node.count('eth_getBlockReceipts'), 5)
})

t.test('a plan that changes meanwhile changes nothing for who was let in', async t => {
  const gate = new Gate()
  node.on('eth_getUncleCountByBlockNumber', held(gate, result('"0x0"')))
  const [one, two] = [
    await createAccess(gateway, 'paid', 'alpha'),
    await createAccess(gateway, 'paid', 'alpha'),
  ]
  const clients = [await openClient(t, one), await openClient(t, two)]
  const replies = clients.map(client => frames(client, 'eth_getUncleCountByBlockNumber', ['0x5'], 3))
  await Promise.all(clients.map(begun))
  await withAccounts(gateway, store => store.accounts.change(one.accountId, { plan: 'none' }))
  await until('the plan is another', async () => {
    const { error: why } = await one.call('eth_chainId')
    return why?.data.reason === 'plan_required'
  })
  gate.open()
  for (const reply of (await Promise.all(replies)).flat()) t.match(reply, { result: '0x0' })
  t.strictSame((await two.usage()).calls, 4)
  t.equal(node.count('eth_getUncleCountByBlockNumber'), 1)
})

t.test('a new block under 500 clients is one upstream call of each method', async t => {
  const accesses = await Promise.all(Array.from({ length: 12 }, () => createAccess(gateway, 'paid', 'alpha')))
  const clients = await Promise.all(
    Array.from({ length: 500 }, (_, n) => openClient(t, accesses[n % accesses.length]!)),
  )
  const hash = `0x${'ef'.repeat(32)}`
  const asks = [
    ['eth_getBlockByHash', [hash, false], '{"number":"0x1000"}'],
    ['eth_getLogs', [{ blockHash: hash }], '[]'],
    ['eth_getBlockTransactionCountByNumber', ['0x1000'], '"0x1"'],
  ] as const
  const gate = new Gate()
  for (const [method, , raw] of asks) node.on(method, held(gate, result(raw)))
  const replies = clients.flatMap(client =>
    asks.map(async ([method, params]) => (await client.call(method, params)).result as unknown),
  )
  await Promise.all(clients.map(begun))
  gate.open()
  t.equal((await Promise.all(replies)).length, 1_500)
  for (const [method] of asks) t.equal(node.count(method), 1, method)
  for (const { socket } of clients) socket.terminate()
})

t.test('a drain answers all who wait', async t => {
  const gate = new Gate()
  node.on('eth_getUncleCountByBlockHash', held(gate, result('"0x0"')))
  const access = await createAccess(gateway, 'slow', 'alpha')
  const posts = Array.from({ length: 20 }, (_, id) =>
    access.post(message('eth_getUncleCountByBlockHash', [`0x${'ef'.repeat(32)}`], id)),
  )
  await letIn(access, 20)
  const calls = (await access.usage()).calls
  const idle = await openSocket(gateway.port)
  gateway.signal('SIGTERM')
  await new Promise(resolve => idle.once('close', resolve).resume())
  gate.open()
  for (const { status, text } of await Promise.all(posts))
    t.match([status, JSON.parse(text)], [200, { result: '0x0' }])
  t.equal(node.count('eth_getUncleCountByBlockHash'), 1)
  t.strictSame(await gateway.exited, { code: 0, signal: null })
  await gateway.start()
  t.equal((await access.usage()).calls, calls, 'which were charged from the moment when they were let in')
})
