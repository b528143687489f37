/** Nodes that speak JSON-RPC 1.0, as Bitcoin Core does. */
import t from 'tap'
import { message } from '../../support/access.ts'
import { createAccess } from '../../support/accounts.ts'
import {
  bitcoinMethods,
  error1,
  GENESIS,
  likeBitcoind,
  result1,
  withPassword,
} from '../../support/bitcoind.ts'
import type { RouteYaml } from '../../support/config-files.ts'
import { startGateway } from '../../support/gateway.ts'
import { html, reply } from '../../support/node-replies.ts'
import { routesOf } from '../../support/route-status.ts'
import { startNode, type ScriptedNode } from '../../support/scripted-node.ts'
import { until } from '../../support/until.ts'

const [user, password] = ['rpc', 'pa:ss']
const node = async (height = 900_000, genesis = GENESIS) => likeBitcoind(await startNode(t), height, genesis)

/** Each scenario has a network and two nodes of its own; the first is asked first where nothing speaks against it. */
const nodes: Readonly<Record<string, readonly [ScriptedNode, ScriptedNode]>> = {
  well: [await node(), await node()],
  warming: [await node(), await node()],
  locked: [await node(), await node()],
  other: [await node(900_000, '0'.repeat(64)), await node()],
  lagging: [await node(899_000), await node()],
}
const warmUp = error1(-28, 'Loading block index…')
nodes['warming']![0].on('getblockcount', warmUp).on('getblockhash', warmUp).otherwise(warmUp)
for (const node of nodes['locked']!) {
  for (const method of ['getblockcount', 'getblockhash'])
    node.on(method, withPassword(user, password, node.handler(method)!))
  node.otherwise(withPassword(user, password, result1('"let in"')))
}

const withAuth = (url: string) => {
  const known = new URL(url)
  known.username = user
  known.password = encodeURIComponent(password)
  return known.href
}
const routes = Object.entries(nodes).flatMap(([slug, [a, b]]): RouteYaml[] => [
  { id: `${slug}-a`, network: slug, http: a.url },
  { id: `${slug}-b`, network: slug, http: slug === 'locked' ? withAuth(b.url) : b.url, priority: 2 },
])
const gateway = await startGateway(t, {
  networks: Object.fromEntries(
    Object.keys(nodes).map(slug => [
      slug,
      {
        family: 'jsonrpc' as const,
        chainId: `bitcoin-${slug}`,
        maxLag: 2,
        head: { method: 'getblockcount' },
        identity: { method: 'getblockhash', params: [0], equals: GENESIS },
      },
    ]),
  ),
  routes,
  methods: bitcoinMethods,
})
const access = await createAccess(gateway, 'paid', 'well')
const statusOf = async (id: string) => (await routesOf(gateway)).find(route => route.id === id)!
await until('every route has been looked at', async () => {
  const seen = await routesOf(gateway)
  return seen.every(({ head, healthy }) => head !== null || !healthy)
})

t.test('a result goes to the client as it is, and a reply too long to hold too', async t => {
  const [a] = nodes['well']!
  t.strictSame(await access.call('getblockcount'), { jsonrpc: '2.0', id: 1, result: 900_000 })
  const long = `"${'ab'.repeat(400_000)}"`
  a.on('getblock', result1(long))
  const reply = await access.post(message('getblock', [GENESIS, 0]))
  t.equal(reply.text, `{"jsonrpc":"2.0","id":1,"result":${long}}`)
})

t.test('an error under HTTP 500 is the answer of the node, and nothing against it', async t => {
  const [a, b] = nodes['well']!
  const text = 'No such mempool or blockchain transaction'
  a.on('getrawtransaction', error1(-5, text))
  for (let i = 0; i < 8; i += 1) {
    const reply = await access.post(message('getrawtransaction', ['00'.repeat(32)]))
    t.equal(reply.status, 200)
    t.strictSame(JSON.parse(reply.text), { jsonrpc: '2.0', id: 1, error: { code: -5, message: text } })
  }
  t.equal(b.count('getrawtransaction'), 0, 'nobody else was asked')
  t.match(await statusOf('well-a'), { healthy: true })
})

t.test('what is no answer to the call is a fault of the route, whatever says 500', async t => {
  const [a, b] = nodes['well']!
  b.on('estimatesmartfee', result1('{"feerate":1e-5,"blocks":6}'))
  const foreign = '{"result":null,"error":{"code":-1,"message":"x"},"id":"another"}'
  const unnamed = '{"error":{"code":500,"message":"x"}}'
  const busy = reply(503, 'Work queue depth exceeded')
  for (const handler of [html, reply(500, foreign), reply(500, unnamed), reply(500, 'oh'), busy]) {
    a.on('estimatesmartfee', handler)
    t.match(await access.call('estimatesmartfee', [6]), { result: { blocks: 6 } })
    // A success in between: none of them shuts the route out.
    await access.call('getblockcount')
  }
})

t.test('a method that the node does not have is asked of another one', async t => {
  const [a, b] = nodes['well']!
  b.on('getindexinfo', result1('{"txindex":{"synced":true}}'))
  t.match(await access.call('getindexinfo'), { result: { txindex: { synced: true } } })
  // Its call, and the probe that finds that the method is missing for everybody.
  await a.arrived('getindexinfo', 2)
  await access.call('getindexinfo')
  t.equal(a.count('getindexinfo'), 2, 'it is asked no more')
})

t.test('clients may speak JSON-RPC 1.0, and are answered in it: alone, and in a batch', async t => {
  const [a, b] = nodes['well']!
  const calls = [
    '{"jsonrpc":"1.0","id":"curltest","method":"getblockcount","params":[]}',
    // As python-bitcoinrpc writes it, which looks for `error` in every reply.
    '{"version": "1.1", "method": "getblockcount", "params": [], "id": 7}',
    '{"id":8,"method":"getblockcount"}',
    '{"jsonrpc":"2.0","id":9,"method":"getblockcount"}',
  ]
  const answers = [
    ...['"curltest"', '7', '8'].map(id => `{"id":${id},"error":null,"result":900000}`),
    '{"jsonrpc":"2.0","id":9,"result":900000}',
  ]
  for (const [index, body] of calls.entries()) t.equal((await access.post(body)).text, answers[index])
  t.equal((await access.post(`[${calls.join(',')}]`)).text, `[${answers.join(',')}]`)
  t.match(a.requests.at(-1)?.text, /^\{"jsonrpc":"2\.0","id":\d+,/, 'the node is asked in 2.0 and a small id')

  for (const node of [a, b]) node.on('getrawtransaction', error1(-5, 'No such transaction'))
  const failed = '{"id":1,"method":"getrawtransaction","params":["aa"]}'
  t.equal(
    (await access.post(failed)).text,
    '{"id":1,"result":null,"error":{"code":-5,"message":"No such transaction"}}',
  )
  const refusal = (await access.post('{"id":2,"method":"dumpprivkey"}')).text
  t.match(refusal, /^\{"id":2,"result":null,"error":\{"code":-32601,/)
  t.match((await access.post('{"id":3,"method":4}')).text, /^\{"id":3,"result":null,"error":\{"code":-32600,/)
  const long = `"${'ab'.repeat(1024 * 1024)}"`
  a.on('getblock', result1(long))
  t.equal(
    (await access.post('{"id":4,"method":"getblock","params":["aa"]}')).text,
    `{"id":4,"error":null,"result":${long}}`,
  )
})

t.test('what has no row does not exist, and is never sent', async t => {
  t.match(await access.call('dumpprivkey', ['x']), { error: { code: -32601 } })
  for (const one of nodes['well']!) t.equal(one.count('dumpprivkey'), 0)
})

t.test('a node that still loads its blocks gets no call, and is a route as soon as it is ready', async t => {
  const [a, b] = nodes['warming']!
  const own = await access.another('warming')
  b.on('getblock', result1('"b"'))
  t.match(await own.call('getblock', ['x']), { result: 'b' })
  await until('it is known', async () => !(await statusOf('warming-a')).healthy, 30_000)
  t.match(await statusOf('warming-a'), { lastError: 'unavailable' })
  likeBitcoind(a, 900_000).on('getblock', result1('"a"'))
  await until('it is ready', async () => (await statusOf('warming-a')).healthy, 30_000)
  await until('it gets calls', async () => (await own.call('getblock', ['x'])).result === 'a', 30_000)
})

t.test('a node that wants a password is sent the one of the URL, and rests where there is none', async t => {
  const own = await access.another('locked')
  t.match(await own.call('getblock', ['x']), { result: 'let in' })
  t.match(await statusOf('locked-a'), { healthy: false, why: /refuses the operator's key/ })
  t.match(await statusOf('locked-b'), { healthy: true, head: 900_000 })
})

t.test('a node of another chain serves nothing', async t => {
  const [a] = nodes['other']!
  const own = await access.another('other')
  t.match(await statusOf('other-a'), {
    healthy: false,
    why: /another chain: getblockhash does not answer 0000/,
  })
  t.match(await own.call('getblockcount'), { result: 900_000 })
  t.equal(a.count('getblock'), 0)
})

t.test('a route that is behind gets no calls about the present', async t => {
  const [a, b] = nodes['lagging']!
  const own = await access.another('lagging')
  b.on('estimatesmartfee', result1('"b"'))
  t.match(await own.call('estimatesmartfee', [6]), { result: 'b' })
  t.equal(a.count('estimatesmartfee'), 0)
  t.match(await statusOf('lagging-a'), { lag: 1_000 })
})

t.test('each call is charged what its row says, also one that ends in an error of the node', async t => {
  const [a] = nodes['well']!
  const own = await access.another('well')
  a.on('getblock', result1('"00"')).on('getrawtransaction', error1(-5, 'none'))
  await own.call('getblock', ['x'])
  await own.call('getrawtransaction', ['x'])
  await own.call('nosuchmethod')
  t.strictSame(await own.usage(access), { requests: 3, calls: 2 })
})
