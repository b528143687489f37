/** Nodes that speak JSON-RPC 2.0 in words of their own, as those of Starknet do. */
import t from 'tap'
import { message } from '../../support/access.ts'
import { createAccess } from '../../support/accounts.ts'
import type { NetworkYaml } from '../../support/config-files.ts'
import { startGateway } from '../../support/gateway.ts'
import { echo, error, result } from '../../support/node-replies.ts'
import { routesOf } from '../../support/route-status.ts'
import { startNode, type ScriptedNode } from '../../support/scripted-node.ts'
import { until } from '../../support/until.ts'

const CHAIN = '0x534e5f4d41494e'

async function node(height: string, chain = CHAIN): Promise<ScriptedNode> {
  const status = `{"sync_info":{"latest_block_height":${height}},"node_info":["x",{"network":"${chain}"}]}`
  return (await startNode(t))
    .on('starknet_blockNumber', result(height))
    .on('starknet_chainId', result(`"${chain}"`))
    .on('status', result(status))
    .on('starknet_call', echo)
}

const head = { method: 'starknet_blockNumber' }
const identity = { method: 'starknet_chainId', equals: CHAIN }
const inside = {
  head: { method: 'status', params: {}, at: 'result.sync_info.latest_block_height' },
  identity: { method: 'status', params: {}, at: 'result.node_info.1.network', equals: CHAIN },
}

/** Each scenario has a network and two nodes of its own; the first is asked first where nothing speaks against it. */
const scenes: Readonly<Record<string, readonly [Partial<NetworkYaml>, ScriptedNode, ScriptedNode]>> = {
  starknet: [{ head, identity }, await node('5000'), await node('5000')],
  other: [{ head, identity }, await node('5000', '0x534e5f5345504f4c4941'), await node('5000')],
  hex: [{ head, identity }, await node('"0x1000"'), await node('"0x1388"')],
  inside: [inside, await node('"4000"', CHAIN.toUpperCase().replace('X', 'x')), await node('"5000"')],
  'inside-other': [inside, await node('5000', '0x1'), await node('5000')],
  // Nothing is asked that could tell.
  headless: [{ identity }, await node('1'), await node('5000')],
  unasked: [{}, await node('1'), await node('5000')],
}
const gateway = await startGateway(t, {
  networks: Object.fromEntries(
    Object.entries(scenes).map(([slug, [network]]) => [
      slug,
      { family: 'jsonrpc' as const, chainId: `SN_${slug}`, maxLag: 5, ...network },
    ]),
  ),
  routes: Object.entries(scenes).flatMap(([slug, [, a, b]]) => [
    { id: `${slug}-a`, network: slug, http: a.url },
    { id: `${slug}-b`, network: slug, http: b.url, priority: 2 },
  ]),
  methods: `families:
  jsonrpc:
    starknet_*: { retry: safe }
    starknet_chainId: { answer: chainId, cost: 0 }
    starknet_call: { params: [2, 2], retry: safe, cost: 3 }
    Filecoin.ChainHead: { retry: safe }
`,
})
const account = await createAccess(gateway, 'paid', 'starknet')
const statusOf = async (id: string) => (await routesOf(gateway)).find(route => route.id === id)!
await until('every head is known', async () => {
  const seen = await routesOf(gateway)
  return seen.every(({ id, head, healthy }) => head !== null || !healthy || /^(headless|unasked)/.test(id))
})

/** Makes a call and tells which nodes it came to. */
async function sent(slug: string, method = 'starknet_gasPrice'): Promise<string> {
  const [, a, b] = scenes[slug]!
  const own = await account.another(slug)
  await own.call(method)
  return 'a'.repeat(a.count(method)) + 'b'.repeat(b.count(method))
}

t.test('params pass as they were sent: by number, by tag, by name', async t => {
  const [, a] = scenes['starknet']!
  for (const params of [
    [{ contract_address: '0x1' }, { block_number: 12 }],
    [{ contract_address: '0x1' }, 'latest'],
    { request: { contract_address: '0x1' }, block_id: { block_hash: '0x2' } },
  ]) {
    t.strictSame((await account.call('starknet_call', params)).result, params)
    t.equal(a.requests.at(-1)?.params, JSON.stringify(params))
  }
})

t.test('an error with a code of the chain is an answer', async t => {
  const [, a, b] = scenes['starknet']!
  a.on('starknet_getBlockWithTxs', error('{"code":24,"message":"Block not found"}'))
  for (let i = 0; i < 4; i += 1)
    t.strictSame(await account.call('starknet_getBlockWithTxs', [{ block_number: 999_999_999 }]), {
      jsonrpc: '2.0',
      id: 1,
      error: { code: 24, message: 'Block not found' },
    })
  t.equal(b.count('starknet_getBlockWithTxs'), 0)
  t.match(await statusOf('starknet-a'), { healthy: true })
})

t.test('codes of the standard send a call elsewhere', async t => {
  const [, a, b] = scenes['starknet']!
  for (const [code, method] of [
    [-32601, 'starknet_one'],
    [-32603, 'starknet_two'],
  ] as const) {
    a.on(method, error(`{"code":${code},"message":"x"}`))
    b.on(method, result('"b"'))
    t.match(await account.call(method), { result: 'b' }, method)
  }
})

t.test('the gateway answers where a row says so, and names with a dot are methods', async t => {
  t.match(await account.call('starknet_chainId'), { result: 'SN_starknet' })
  t.match(await account.call('Filecoin.ChainHead'), { result: 'ok' })
  t.match(await account.call('starknet_x"y'), { error: { code: -32601 } })
})

t.test('a route of another chain is shut out, wherever in the answer its name is', async t => {
  t.equal(await sent('other'), 'b')
  t.equal(await sent('inside-other'), 'b')
  t.match(await statusOf('inside-other-a'), {
    healthy: false,
    why: `it serves another chain: status does not answer ${CHAIN}`,
  })
})

t.test('a route that is behind is skipped, however its height is spelled', async t => {
  t.equal(await sent('hex'), 'b')
  t.equal((await statusOf('hex-a')).head, 0x1000)
  t.equal(await sent('inside'), 'b')
  t.match(await statusOf('inside-a'), { head: 4_000, lag: 1_000 })
})

t.test('without a question for the head no route is ever behind', async t => {
  t.equal(await sent('headless'), 'a')
  t.equal(await sent('unasked'), 'a')
  t.match(await statusOf('unasked-a'), { healthy: true, head: null })
})

t.test('each call is charged what its row says', async t => {
  const own = await account.another('starknet')
  await own.call('starknet_call', [{}, 'latest'])
  await own.call('starknet_call', [{}])
  await own.call('starknet_gasPrice')
  await own.post(`[${message('starknet_call', [{}, 'latest'])},${message('starknet_nonce')}]`)
  t.strictSame(await own.usage(account), { requests: 8, calls: 4 })
})
