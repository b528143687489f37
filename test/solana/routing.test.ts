import t, { type Test } from 'tap'
import { message, type Access } from '../support/access.ts'
import { createAccess } from '../support/accounts.ts'
import type { RouteYaml } from '../support/config-files.ts'
import { startGateway } from '../support/gateway.ts'
import { error, result } from '../support/node-replies.ts'
import { refused, refusedItem } from '../support/refusals.ts'
import { rawItems } from '../support/raw-json.ts'
import { routesOf } from '../support/route-status.ts'
import { startSocketNode, type ScriptedSocketNode } from '../support/scripted-socket-node.ts'
import { openClient } from '../support/socket-client.ts'
import { randomTransaction } from '../support/solana-transactions.ts'
import { until } from '../support/until.ts'

const head = 5_000
const genesisHash = '7'.repeat(32)
const node = (options: object = {}) => startSocketNode(t, { head, genesisHash, ...options })

/** Each scenario has a network and two nodes of its own; the first is asked first where nothing speaks against it. */
const nodes: Readonly<Record<string, readonly [ScriptedSocketNode, ScriptedSocketNode]>> = {
  unwell: [await node(), await node()],
  'both-unwell': [await node(), await node()],
  other: [await node({ genesisHash: '8'.repeat(32) }), await node()],
  history: [await node({ firstSlot: 1_000 }), await node({ firstSlot: 900 })],
  pruned: [await node({ firstSlot: 1_000 }), await node({ firstSlot: 2_000 })],
  old: [await node(), await node()],
  floor: [await node(), await node({ head: head + 20 })],
  height: [await node(), await node({ head: head + 20 })],
  hash: [await node(), await node({ head: head + 20 })],
}
const unhealthy = (behind: number) =>
  error(`{"code":-32005,"message":"Node is behind by ${behind} slots","data":{"numSlotsBehind":${behind}}}`)
nodes['unwell']![0].on('getHealth', unhealthy(300))
nodes['both-unwell']![0].on('getHealth', unhealthy(300))
nodes['both-unwell']![1].on('getHealth', unhealthy(200))
// An older node knows only its own ledger.
nodes['pruned']![1].on('getFirstAvailableBlock', error('{"code":-32601,"message":"Method not found"}'))

const archives = ['history', 'old']
const methods = { getFees: { enabled: true, commitment: 0 } }
const routes = Object.entries(nodes).flatMap(([slug, [a, b]]): RouteYaml[] => [
  { id: `${slug}-a`, network: slug, http: a.url, ws: a.wsUrl },
  {
    id: `${slug}-b`,
    network: slug,
    http: b.url,
    ws: b.wsUrl,
    priority: 2,
    capabilities: archives.includes(slug) ? ['archive'] : [],
  },
])
const gateway = await startGateway(t, {
  networks: Object.fromEntries(
    Object.keys(nodes).map(slug => [
      slug,
      { family: 'solana', chainId: `solana-${slug}`, genesisHash, methods },
    ]),
  ),
  routes,
})
const account = await createAccess(gateway, 'paid', 'unwell')
await until('every route has been looked at', async () => {
  const seen = await routesOf(gateway)
  return seen.every(({ head, healthy }) => head !== null || !healthy)
})
await nodes['pruned']![1].arrived('minimumLedgerSlot')
await Promise.all(
  Object.entries(nodes).flatMap(([slug, [a, b]]) => [
    ...(slug === 'other' ? [] : [a.arrived('getFirstAvailableBlock')]),
    archives.includes(slug) ? b.arrived('getHealth') : b.arrived('getFirstAvailableBlock'),
  ]),
)
interface Scene {
  readonly access: Access
  readonly a: ScriptedSocketNode
  readonly b: ScriptedSocketNode
  /** Makes a call and tells which nodes it came to. */
  readonly sent: (method: string, params?: unknown, through?: Access) => Promise<string>
}

async function scene(slug: string): Promise<Scene> {
  const [a, b] = nodes[slug]!
  const access = await account.another(slug)
  const sent: Scene['sent'] = async (method, params = [], through = access) => {
    const [beforeA, beforeB] = [a.count(method), b.count(method)]
    await through.call(method, params)
    return 'a'.repeat(a.count(method) - beforeA) + 'b'.repeat(b.count(method) - beforeB)
  }
  return { access, a, b, sent }
}

/** Everything that asks for a slot that is too old is refused over each transport, and nothing is sent. */
async function isMissing(t: Test, { access, a, b }: Scene, method: string, params: unknown): Promise<void> {
  const before = a.count(method) + b.count(method)
  const data = { capability: 'archive' }
  const expected = { reason: 'capability_missing', family: 'solana', id: '1', data } as const
  const body = message(method, params)
  refused(t, await access.post(body), expected)
  for (const item of rawItems((await access.post(`[${body},${body}]`)).text)) refusedItem(t, item, expected)
  const client = await openClient(t, access)
  t.match(await client.call(method, params), { error: { code: 503, data } })
  t.equal(a.count(method) + b.count(method), before, `${method} was not sent`)
}

t.test('a node that says it is behind gets no call while another is well', async t => {
  const { sent } = await scene('unwell')
  t.equal(await sent('getBalance', ['x']), 'b')
  const route = (await routesOf(gateway)).find(({ id }) => id === 'unwell-a')
  t.match(route, { healthy: false, why: /300 slots behind/ })
  t.match(await account.call('getHealth'), { result: 'ok' })
})

t.test('getHealth tells when no node is well, and the last ones still serve', async t => {
  const { access, sent } = await scene('both-unwell')
  t.strictSame(await access.call('getHealth'), {
    jsonrpc: '2.0',
    id: 1,
    error: { code: -32005, message: 'Node is behind by 200 slots', data: { numSlotsBehind: 200 } },
  })
  t.equal(await sent('getBalance', ['x']), 'a')
  t.same(await access.usage(), { requests: 2, calls: 2 })
})

t.test('a node with another genesis serves nothing', async t => {
  const { sent } = await scene('other')
  t.equal(await sent('getBalance', ['x']), 'b')
})

t.test('slots that a route keeps no more go to an archive, before anything is sent', async t => {
  const { sent, a } = await scene('history')
  const more: Record<string, unknown[]> = { getBlock: [{}], getBlocks: [1_500], getBlocksWithLimit: [5] }
  for (const method of ['getBlock', 'getBlocks', 'getBlocksWithLimit', 'getBlockTime']) {
    t.equal(
      await sent(method, [1_000, ...(more[method] ?? [])]),
      'a',
      `${method} at the oldest that it keeps`,
    )
    t.equal(await sent(method, [999, ...(more[method] ?? [])]), 'b', `${method} below it`)
  }
  t.equal(await sent('getBlockCommitment', [999]), 'a', 'this one is not about what is kept')
  t.equal(await sent('getLeaderSchedule', [999]), 'a')
  a.on('getBlock', error('{"code":-32001,"message":"Block 1000 cleaned up, does not exist on node"}'))
  t.equal(await sent('getBlock', [1_000]), 'ab', 'the ledger has gone on')
})

t.test('without an archive they are refused, or go where they are kept', async t => {
  const own = await scene('pruned')
  for (const method of ['getBlock', 'getBlocks', 'getBlockTime']) await isMissing(t, own, method, [999])
  await isMissing(t, own, 'getBlocksWithLimit', [999, 5])
  t.equal(await own.sent('getBlock', [1_000]), 'a')
  own.a.on('getBlock', error('{"code":-32004,"message":"Block not available for slot 1000"}'))
  t.equal(await own.sent('getBlock', [1_500]), 'a', 'the other one does not keep it')
  t.equal(await own.sent('getBlock', [2_000]), 'ab')
})

t.test('a signature of unknown age is tried, then asked of an archive', async t => {
  const { access, a, b, sent } = await scene('old')
  const found = '{"slot":5,"meta":null,"rentEpoch":18446744073709551615}'
  b.on('getTransaction', result(found))
  const unknown = [result('null'), error('{"code":-32011,"message":"Transaction history is not available"}')]
  for (const answer of unknown) {
    a.on('getTransaction', answer)
    t.equal(await sent('getTransaction', ['sig']), 'ab')
    const { text } = await access.post(message('getTransaction', ['sig']))
    t.equal(text, `{"jsonrpc":"2.0","id":1,"result":${found}}`)
  }
  a.on('getTransaction', result(found))
  t.equal(await sent('getTransaction', ['sig']), 'a')
  a.on('getTransaction', result('null'))
  b.on('getTransaction', result('null'))
  t.strictSame(await access.call('getTransaction', ['sig']), { jsonrpc: '2.0', id: 1, result: null })
  t.equal(
    await sent('getSignaturesForAddress', ['x']),
    'b',
    'what is cut short cannot be told from a whole answer',
  )
  t.equal(await sent('getSignatureStatuses', [['sig'], { searchTransactionHistory: true }]), 'b')
  t.equal(await sent('getSignatureStatuses', [['sig']]), 'a')
})

t.test('a call that names a least slot goes to a route that has come to it, and shows it', async t => {
  const { access, a, b, sent } = await scene('floor')
  const another = await account.another('floor')
  const balance = (slot: number) => result(`{"context":{"apiVersion":"2.1.0","slot":${slot}},"value":1}`)
  a.on('getBalance', balance(head))
  b.on('getBalance', balance(head + 20))
  const confirmed = { commitment: 'confirmed' }
  t.equal(await sent('getBalance', ['x', confirmed]), 'a')
  t.equal(await sent('getBalance', ['x', { ...confirmed, minContextSlot: head + 10 }]), 'b')
  t.equal(await sent('getBalance', ['x', confirmed]), 'b', 'heads do not go back for one endpoint')
  t.equal(await sent('getBalance', ['x', { commitment: 'processed' }]), 'b')
  t.equal(await sent('getSlot', [confirmed]).then(nodes => nodes.at(-1)), 'b')
  t.equal(await sent('getBalance', ['x']), 'a', 'what is finalized was not shown yet')
  t.equal(await sent('getBalance', ['x', confirmed], another), 'a', 'and another endpoint was shown nothing')
  a.on('getBalance', error('{"code":-32016,"message":"Minimum context slot has not been reached"}'))
  t.equal(await sent('getBalance', ['x', { minContextSlot: head }]), 'ab')
  const u64 = '18446744073709551615'
  const body = message('getBalance', ['x', { minContextSlot: 0 }]).replace(':0}', `:${u64}}`)
  t.match(JSON.parse((await access.post(body)).text), { result: { value: 1 } })
  t.equal(b.calls.at(-1)?.params, `["x",{"minContextSlot":${u64}}]`, 'every digit is passed on')
})

t.test('block heights do not go back either', async t => {
  const { sent, a, b } = await scene('height')
  a.on('getBlockHeight', result('4000'))
  b.on('getBlockHeight', result('4020'))
  t.equal(await sent('getBlockHeight'), 'a')
  t.equal(await sent('getBlockHeight', [{ minContextSlot: head + 10 }]), 'b')
  t.equal(await sent('getBlockHeight'), 'b')
  t.equal(await sent('getBlockHeight', [{ commitment: 'processed' }]), 'b')
})

t.test('what is signed by a blockhash goes to the node that gave it out', async t => {
  const { access, a, b, sent } = await scene('hash')
  const another = await account.another('hash')
  const [own, stranger, elder] = [randomTransaction(), randomTransaction(), randomTransaction()]
  const given = (blockhash: string) =>
    result(`{"context":{"slot":${head}},"value":{"blockhash":"${blockhash}"}}`)
  // At a slot to which both have come: nothing but the blockhash speaks for either.
  b.on('getLatestBlockhash', given(own.blockhash)).on('getFees', given(elder.blockhash))
  t.equal(await sent('getLatestBlockhash', [{ minContextSlot: head + 10 }]), 'b')
  const calls: [method: string, params: (one: typeof own) => unknown[]][] = [
    ['sendTransaction', one => [one.base58]],
    ['sendTransaction', one => [one.base64, { encoding: 'base64', preflightCommitment: 'processed' }]],
    ['simulateTransaction', one => [one.base64, { encoding: 'base64', commitment: 'processed' }]],
    ['isBlockhashValid', one => [one.blockhash]],
    ['getFeeForMessage', one => [one.message]],
  ]
  t.equal(await sent('getFees', [{ minContextSlot: head + 10 }]), 'b')
  t.equal(await sent('sendTransaction', [elder.base58], another), 'b')
  for (const [method, params] of calls) {
    t.equal(await sent(method, params(own), another), 'b', method)
    t.equal(await sent(method, params(stranger), another), 'a', `${method} by a blockhash that is not ours`)
  }
  a.on(
    'sendTransaction',
    error('{"code":-32002,"message":"Transaction simulation failed: Blockhash not found"}'),
  )
  t.equal(
    await sent('sendTransaction', [stranger.base58], another),
    'ab',
    'who does not know it sends nothing',
  )
  b.on('sendTransaction', error('{"code":-32002,"message":"This transaction has already been processed"}'))
  const told = await another.call('sendTransaction', [stranger.base58])
  t.match(told, { error: { code: -32002 } }, 'so that it was processed before is no answer to this call')
  a.on('sendTransaction', result(`"${own.signature}"`))
  await b.close()
  t.strictSame(await access.call('sendTransaction', [own.base58]), {
    jsonrpc: '2.0',
    id: 1,
    result: own.signature,
  })
})
