import { setImmediate as turn } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { createAccess } from '../support/accounts.ts'
import { startGateway } from '../support/gateway.ts'
import { ScriptedChain, someAddress, type Block } from '../support/scripted-chain.ts'
import { startSocketNode, type ScriptedSocketNode } from '../support/scripted-socket-node.ts'
import { openClient, type SocketClient } from '../support/socket-client.ts'
import { until } from '../support/until.ts'

/** Every scenario has a network of its own; the first of its nodes is the bad one, and comes first. */
const scenarios = {
  flood: 3,
  'flood-alone': 1,
  drops: 3,
  'drops-alone': 1,
  replies: 3,
  low: 3,
  high: 3,
} as const
type Slug = keyof typeof scenarios

interface Scene {
  readonly nodes: readonly ScriptedSocketNode[]
  readonly chains: readonly ScriptedChain[]
}

const scenes = new Map<Slug, Scene>()
for (const [i, [slug, count]] of Object.entries(scenarios).entries()) {
  const chains = Array.from({ length: count }, () => new ScriptedChain())
  const nodes = await Promise.all(chains.map(chain => startSocketNode(t, { chainId: 1_100 + i, chain })))
  scenes.set(slug as Slug, { nodes, chains })
}
const gateway = await startGateway(t, {
  networks: Object.fromEntries(Object.keys(scenarios).map((slug, i) => [slug, { chainId: 1_100 + i }])),
  routes: [...scenes].flatMap(([slug, { nodes }]) =>
    nodes.map((node, i) => ({
      id: `${slug}-${i}`,
      network: slug,
      http: node.url,
      ws: node.wsUrl,
      priority: i === 0 ? 1 : 2,
    })),
  ),
  gateway: { log: { level: 'info' } },
})
const account = await createAccess(gateway, 'paid', 'flood')

/** A client of one network that listens to heads. */
async function start(t: Test, slug: Slug) {
  const scene = scenes.get(slug)!
  const access = slug === 'flood' ? account : await account.another(slug)
  const client = await openClient(t, access)
  const heads = await client.subscribe('eth_subscribe', ['newHeads'])
  const mine = (wishes: Parameters<ScriptedChain['mine']>[0] = []): Block =>
    scene.chains.map(chain => chain.mine(wishes)).at(-1)!
  return { ...scene, slug, access, client, heads, mine }
}

/** The lines of the log about sockets of a route. */
const logged = (route: string): string[] =>
  gateway.printed
    .split('\n')
    .filter(line => line.includes(`"route":"${route}"`) && line.includes('socket'))
    .map(line => (JSON.parse(line) as { msg: string }).msg)

const hashes = (client: SocketClient, id: string): string[] =>
  client.notifications(id).map(({ hash }) => String(hash))

/** Sends one head so often that no chain has as many. */
async function burst(node: ScriptedSocketNode, header: string): Promise<void> {
  for (let i = 0; i < 12_000 && node.live().length > 0; i++) {
    node.push('eth_subscribe', header)
    if (i % 64 === 0) await turn()
  }
}

t.test('a burst of one node costs that node its socket, and no other', async t => {
  const { nodes, client, heads, mine, slug } = await start(t, 'flood')
  const [bad, next, last] = nodes
  const first = mine()
  await client.notified(heads, 1)
  await burst(bad!, first.header)
  await next!.when('the subscription', () => next!.live().length === 1)
  const blocks = [first, ...Array.from({ length: 20 }, () => mine())]
  await client.when('the last head', () => hashes(client, heads).includes(blocks.at(-1)!.hash))
  t.strictSame(
    hashes(client, heads),
    blocks.map(({ hash }) => hash),
    'each head once, in order',
  )
  t.strictSame([next!.upgrades.length, last!.upgrades.length], [1, 0], 'the next route keeps it')
  t.strictSame(
    [1, 2].map(i => logged(`${slug}-${i}`)),
    [[], []],
  )
  t.equal(logged(`${slug}-0`).length, 1)
  t.equal(client.over, undefined)
})

t.test('the only route of a network serves on after a burst', async t => {
  const { nodes, client, heads, mine, access } = await start(t, 'flood-alone')
  const [bad] = nodes
  await burst(bad!, mine().header)
  await bad!.when('the subscription once more', () => bad!.upgrades.length > 1 && bad!.live().length === 1)
  const { hash } = mine()
  await client.when('the next head', () => hashes(client, heads).includes(hash))
  const other = await openClient(t, access)
  await other.subscribe('eth_subscribe', ['logs', { address: someAddress }])
  t.equal(client.over, undefined)
})

/** Takes subscriptions from now on, and cuts the socket right after each. */
function dropAfterSubscribe(node: ScriptedSocketNode): void {
  node.onSubscribe(() => {
    setTimeout(() => {
      node.dropSockets()
    }, 5)
    return 'accept'
  })
}

t.test('a node that drops each socket after the first subscription gets no second one', async t => {
  const { nodes, client, heads, mine, access } = await start(t, 'drops')
  const [bad, next] = nodes
  const blocks = [mine()]
  await client.notified(heads, 1)
  dropAfterSubscribe(bad!)
  bad!.dropSockets()
  await next!.when('the subscription', () => next!.live().length === 1)
  const before = bad!.upgrades.length
  for (let i = 0; i < 5; i++) {
    const other = await openClient(t, access)
    await other.subscribe('eth_subscribe', ['logs', { address: `0x${String(i).repeat(40)}` }])
  }
  blocks.push(mine(), mine())
  await client.when('the last head', () => hashes(client, heads).includes(blocks.at(-1)!.hash))
  t.strictSame(
    hashes(client, heads),
    blocks.map(({ hash }) => hash),
  )
  t.strictSame([before, bad!.upgrades.length], [1, 1], 'it is asked no more')
  t.equal(next!.upgrades.length, 1)
})

t.test('the only node, which drops each socket, is asked less and less often, and named once', async t => {
  const { nodes, client, heads, mine, slug } = await start(t, 'drops-alone')
  const [bad] = nodes
  dropAfterSubscribe(bad!)
  const begun = performance.now()
  bad!.dropSockets()
  // At once, and after 100, 200, 400 and 800 ms.
  await bad!.when('six more sockets', () => bad!.upgrades.length === 7)
  const took = performance.now() - begun
  t.ok(took >= 1_500, `six sockets in ${Math.round(took)} ms`)
  t.strictSame(logged(`${slug}-0`), ['sockets of a route fail'])
  bad!.onSubscribe(() => 'accept')
  const lasts = () => Promise.resolve(logged(`${slug}-0`).length === 2)
  await until('the log says that a socket lasts', lasts)
  const { hash } = mine()
  await client.when('the next head', () => hashes(client, heads).includes(hash))
  t.equal(logged(`${slug}-0`)[1], 'sockets of the route stay open again')
  t.equal(client.over, undefined)
})

t.test('a node that takes a subscription under no id, or has no room for it, is passed over', async t => {
  const { nodes, client } = await start(t, 'replies')
  const [bad, next, last] = nodes
  const answers = [
    ...['null', '{"a":1}', '[]', '""', 'true', '1.5', '1e400'].map(id => ({ id })),
    ...[
      '{"code":-32000,"message":"too many subscriptions"}',
      '{"code":-32006,"message":"Too many subscriptions on the connection","data":"Exceeded max limit of 1024"}',
      '{"code":-32603,"message":"Internal Error: Subscription refused. Node subscription limit reached"}',
      '{"code":-32005,"message":"limit exceeded"}',
      '{"code":-32000,"message":"service unavailable"}',
      '{"code":-32000,"message":"invalid API key"}',
      '{"code":-32601,"message":"notifications not supported"}',
    ].map(error => ({ error })),
  ]
  let count = 0
  const filter = () => ['logs', { address: `0x${(++count).toString(16).padStart(40, '0')}` }]
  for (const answer of answers) {
    bad!.onSubscribe(() => answer)
    const wanted = filter()
    const logs = await client.subscribe('eth_subscribe', wanted)
    const theirs = next!.live('eth_subscribe', 'logs').filter(one => one.params === JSON.stringify(wanted))
    t.equal(theirs.length, 1, JSON.stringify(answer))
    next!.push('eth_subscribe', `{"marker":${count}}`, ({ id }) => id === theirs[0]?.id)
    t.strictSame(await client.notified(logs, 1), [{ marker: count }])
  }
  t.equal(last!.upgrades.length, 0)

  const everywhere = (error: string) => {
    for (const node of nodes) node.onSubscribe(() => ({ error }))
    return client.call('eth_subscribe', filter())
  }
  const full = await everywhere('{"code":-32000,"message":"too many subscriptions, buy a plan"}')
  t.match(full.error, { message: 'Every route is at its limit', data: { reason: 'no_route' } })
  const ill = await everywhere('{"code":-32000,"message":"service unavailable: vendor"}')
  t.match(ill.error, { data: { reason: 'no_route' } })
  t.notMatch(JSON.stringify(ill), /vendor/)
  const lacking = { code: -32601, message: 'notifications not supported' }
  t.strictSame((await everywhere(JSON.stringify(lacking))).error, lacking, "the node's own words")
  const before = next!.socketRequests.length
  const wrong = { code: -32602, message: 'invalid address' }
  t.strictSame((await everywhere(JSON.stringify(wrong))).error, wrong)
  t.equal(next!.socketRequests.length, before, 'what is wrong with the call is asked of one node')
})

for (const [slug, far] of [
  ['low', -3_000],
  ['high', 100],
] as const)
  t.test(`a node whose last head and log are false, too ${slug}, hides nothing of the gap`, async t => {
    const { nodes, client, heads, mine } = await start(t, slug)
    const [bad, next] = nodes
    await gateway.headKnown(slug)
    const logs = await client.subscribe('eth_subscribe', ['logs', { address: someAddress }])
    const blocks = [mine([{}]), mine([{ data: '0x02' }])]
    await client.when('the heads', () => client.notifications(heads).length === 2)
    const number = `0x${(blocks[1]!.number + far).toString(16)}`
    const false_ = { head: '0xfa15e1', log: '0xfa15e2' }
    bad!.push('eth_subscribe', `{"number":"${number}","hash":"${false_.head}"}`, ({ params }) =>
      params.includes('newHeads'),
    )
    bad!.push(
      'eth_subscribe',
      `{"blockNumber":"${number}","blockHash":"${false_.log}","logIndex":"0x0","removed":false}`,
      ({ params }) => params.includes('logs'),
    )
    await client.notified(heads, 3)
    await client.notified(logs, 3)
    bad!.announces = false
    for (let i = 0; i < 20; i++) blocks.push(mine([{ data: `0x1${i % 10}` }]))
    bad!.dropSockets()
    await next!.when('both subscriptions', () => next!.live('eth_subscribe').length === 2)
    blocks.push(mine([{}]))
    const { hash } = blocks.at(-1)!
    await client.when('the last head', () => hashes(client, heads).includes(hash))
    const blockHashes = () => client.notifications(logs).map(log => String(log.blockHash))
    await client.when('the last log', () => blockHashes().includes(hash))
    const real = blocks.map(block => block.hash)
    t.strictSame(hashes(client, heads), [...real.slice(0, 2), false_.head, ...real.slice(2)])
    t.strictSame(blockHashes(), [...real.slice(0, 2), false_.log, ...real.slice(2)])
    t.equal(client.over, undefined)
  })
