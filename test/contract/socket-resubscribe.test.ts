import t, { type Test } from 'tap'
import type { Access } from '../support/access.ts'
import { createAccess } from '../support/accounts.ts'
import { Gate } from '../support/gate.ts'
import { startGateway } from '../support/gateway.ts'
import { error, held } from '../support/node-replies.ts'
import { ScriptedChain, someAddress, type Block, type Wish } from '../support/scripted-chain.ts'
import { startSocketNode, type ScriptedSocketNode } from '../support/scripted-socket-node.ts'
import { openClient, type SocketClient } from '../support/socket-client.ts'

/** Two nodes of one chain: the first one serves until it is taken down. */
interface Pair {
  readonly slug: string
  readonly chainId: number
  readonly a: ScriptedSocketNode
  readonly b: ScriptedSocketNode
  readonly chainA: ScriptedChain
  readonly chainB: ScriptedChain
}

/** Every scenario has a network of its own, so that what one does to its routes concerns no other. */
const scenarios = [
  'gap',
  'socket',
  'restart',
  'behind',
  'overtaken',
  'reorg',
  'deep',
  'widest',
  'too-wide',
  'quiet',
  'late',
  'unable',
  'again',
  'crowd',
  'joins',
  'left',
  'sick',
] as const

const pairs = new Map<string, Pair>()
for (const [i, slug] of scenarios.entries()) {
  const chainId = 1_000 + i
  const [chainA, chainB] = [new ScriptedChain(), new ScriptedChain()]
  const a = await startSocketNode(t, { chainId, chain: chainA })
  const b = await startSocketNode(t, { chainId, chain: chainB })
  pairs.set(slug, { slug, chainId, a, b, chainA, chainB })
}
const gateway = await startGateway(t, {
  networks: Object.fromEntries([...pairs.values()].map(({ slug, chainId }) => [slug, { chainId }])),
  routes: [...pairs.values()].flatMap(({ slug, a, b }) => [
    { id: `${slug}-a`, network: slug, http: a.url, ws: a.wsUrl, priority: 1 },
    // In these two there is nowhere else to go.
    ...(['socket', 'restart'].includes(slug)
      ? []
      : [{ id: `${slug}-b`, network: slug, http: b.url, ws: b.wsUrl, priority: 2 }]),
  ]),
})
const account = await createAccess(gateway, 'paid', 'gap')

/** One client of one network with its subscriptions. */
interface Watching extends Pair {
  readonly access: Access
  readonly client: SocketClient
  readonly heads: string
  readonly logs: string
  /** Mines the same block on both nodes. */
  readonly mine: (wishes?: readonly Wish[]) => Block
}

async function watch(t: Test, slug: (typeof scenarios)[number]): Promise<Watching> {
  const pair = pairs.get(slug)!
  const access = slug === 'gap' ? account : await account.another(slug)
  const client = await openClient(t, access)
  const heads = await client.subscribe('eth_subscribe', ['newHeads'])
  const logs = await client.subscribe('eth_subscribe', ['logs', { address: someAddress }])
  const mine = (wishes: readonly Wish[] = []) => {
    pair.chainB.mine(wishes)
    return pair.chainA.mine(wishes)
  }
  return { ...pair, access, client, heads, logs, mine }
}

/** Some logs of the watched address, and one of another. */
const some = (label: string): Wish[] => [
  { data: `0x${Buffer.from(`${label}.0`).toString('hex')}` },
  { address: `0x${'cd'.repeat(20)}` },
  { data: `0x${Buffer.from(`${label}.2`).toString('hex')}` },
]
const ours = ({ logs }: Block) => logs.filter(({ address }) => address === someAddress)
const blocksOf = (blocks: readonly Block[]) => blocks.map(({ number, hash }) => ({ number, hash }))

/** Awaits the head of a block, and holds all heads so far against the blocks that should have been told. */
async function holdHeads(t: Test, { client, heads }: Watching, blocks: readonly Block[]): Promise<void> {
  const { hash } = blocks.at(-1)!
  await client.when(`head ${hash}`, () => client.notifications(heads).some(head => head.hash === hash))
  const told = client.notifications(heads)
  t.strictSame(
    told.map(head => ({ number: Number(head.number), hash: String(head.hash) })),
    blocksOf(blocks),
    'heads: contiguous, in order, each once',
  )
  for (const [i, head] of told.entries())
    t.match(head, JSON.parse(blocks[i]!.header), `head ${i} says what a header says`)
}

/** Awaits the last of these logs, and holds all logs so far against them. */
async function holdLogs(
  t: Test,
  { client, logs }: Watching,
  expected: readonly { readonly removed: boolean }[],
): Promise<void> {
  const last = JSON.stringify(expected.at(-1))
  await client.when(`log ${last}`, () => client.notifications(logs).some(log => same(log, last)))
  t.strictSame(client.notifications(logs), expected, 'logs: complete, in order, each once')
}
const same = (log: any, text: string) => {
  const wanted = JSON.parse(text)
  return ['blockHash', 'logIndex', 'removed'].every(name => log[name] === wanted[name])
}
const added = (blocks: readonly Block[]) =>
  blocks.flatMap(block => ours(block).map(log => ({ ...log, removed: false })))

t.test('when a route dies another goes on, and what was missed is filled in', async t => {
  const watching = await watch(t, 'gap')
  const { a, b, client, mine, chainB } = watching
  const pending = await client.subscribe('eth_subscribe', ['newPendingTransactions'])
  t.equal(b.upgrades.length, 0, 'the first route serves')
  const blocks = [mine(some('1')), mine(), mine(some('3'))]
  a.push('eth_subscribe', '"0x01"', one => one.params.includes('Pending'))
  await holdHeads(t, watching, blocks)
  t.strictSame(await client.notified(pending, 1), ['0x01'])
  const closing = a.close()
  for (const label of ['4', '5', '6', '7']) blocks.push(mine(some(label)))
  await closing
  await b.when('all three subscriptions', () => b.live('eth_subscribe').length === 3)
  blocks.push(mine(), mine(some('9')))
  await holdHeads(t, watching, blocks)
  await holdLogs(t, watching, added(blocks))
  b.push('eth_subscribe', '"0x02"', one => one.params.includes('Pending'))
  t.strictSame(await client.notified(pending, 2), ['0x01', '0x02'])
  t.equal(chainB.head.hash, blocks.at(-1)!.hash, 'the two nodes are one chain')
  t.equal(client.over, undefined)
  for (const id of [watching.heads, watching.logs, pending])
    t.match(
      await client.call('eth_unsubscribe', [JSON.parse(id)]),
      { result: true },
      'its id is still its own',
    )
})

t.test('when only the socket of the node breaks it is opened anew', async t => {
  const watching = await watch(t, 'socket')
  const { a, client, mine } = watching
  const blocks = [mine(some('1'))]
  await holdHeads(t, watching, blocks)
  for (let round = 0; round < 3; round++) {
    const before = a.upgrades.length
    a.dropSockets()
    blocks.push(mine(some(`${round}`)), mine(some(`${round}!`)))
    await a.when(
      'a new socket with both',
      () => a.upgrades.length > before && a.live('eth_subscribe').length === 2,
    )
    blocks.push(mine(some(`${round}!!`)))
    await holdHeads(t, watching, blocks)
  }
  await holdLogs(t, watching, added(blocks))
  t.equal(client.over, undefined)
})

t.test('a node that restarts is found again', async t => {
  const watching = await watch(t, 'restart')
  const { a, client, mine } = watching
  const blocks = [mine(some('1'))]
  await holdHeads(t, watching, blocks)
  await a.close()
  for (let i = 0; i < 5; i++) blocks.push(mine(some(`${i}`)))
  await a.listen()
  await a.when('both subscriptions', () => a.live('eth_subscribe').length === 2)
  blocks.push(mine())
  await holdHeads(t, watching, blocks)
  await holdLogs(t, watching, added(blocks))
  t.equal(client.over, undefined)
})

t.test('what a route that is behind tells again is not told twice', async t => {
  const watching = await watch(t, 'behind')
  const { a, b, chainA, chainB, client } = watching
  const blocks = [1, 2, 3, 4].map(label => chainA.mine(some(`${label}`)))
  await holdHeads(t, watching, blocks)
  await holdLogs(t, watching, added(blocks))
  chainB.mine(some('1'))
  await a.close()
  await b.when('both subscriptions', () => b.live('eth_subscribe').length === 2)
  for (const label of [2, 3, 4, 5, 6]) {
    const block = chainB.mine(some(`${label}`))
    if (label > 4) blocks.push(block)
  }
  t.equal(chainB.at(blocks[3]!.number)!.hash, blocks[3]!.hash, 'the two nodes are one chain')
  await holdHeads(t, watching, blocks)
  await holdLogs(t, watching, added(blocks))
  t.equal(client.over, undefined)
})

t.test('what comes live while a gap is being filled waits for its turn', async t => {
  const watching = await watch(t, 'overtaken')
  const { a, b, client, mine, chainB } = watching
  const blocks = [mine(some('1'))]
  await holdHeads(t, watching, blocks)
  await holdLogs(t, watching, added(blocks))
  const gate = new Gate()
  const play = { block: b.handler('eth_getBlockByNumber')!, logs: b.handler('eth_getLogs')! }
  // Reads of the head go through: whoever wants to know how wide the gap is must be able to.
  b.on('eth_getBlockByNumber', (request, response) =>
    (request.params.includes('"0x') ? held(gate, play.block) : play.block)(request, response),
  ).on('eth_getLogs', held(gate, play.logs))
  const closing = a.close()
  for (const label of ['2', '3', '4']) blocks.push(mine(some(label)))
  await closing
  await b.when('both subscriptions', () => b.live('eth_subscribe').length === 2)
  for (const label of ['5', '6']) blocks.push(mine(some(label)))
  // An answer over the socket shows that the gateway has read what the node sent before it.
  t.equal(
    b.push('eth_subscribe', '"0x1"', one => one.params.includes('Pending')),
    0,
  )
  const pending = await client.subscribe('eth_subscribe', ['newPendingTransactions'])
  t.equal(client.notifications(watching.heads).length, 1, 'nothing overtakes the gap')
  gate.open()
  await holdHeads(t, watching, blocks)
  await holdLogs(t, watching, added(blocks))
  t.equal(chainB.head.hash, blocks.at(-1)!.hash)
  t.same(client.notifications(pending), [])
})

t.test('a reorg within the gap: the new branch from the fork on, and logs taken back', async t => {
  const watching = await watch(t, 'reorg')
  const { a, b, chainB, client, mine } = watching
  const kept = [mine(some('1')), mine(some('2'))]
  const dropped = [mine(some('3')), mine(), mine(some('5'))]
  await holdHeads(t, watching, [...kept, ...dropped])
  await holdLogs(t, watching, added([...kept, ...dropped]))
  const before = client.notifications(watching.logs).length
  const closing = a.close()
  chainB.dropAbove(kept.at(-1)!.number)
  const instead = ["3'", "4'", "5'", "6'"].map(label => chainB.mine(some(label), 'other'))
  await closing
  await b.when('both subscriptions', () => b.live('eth_subscribe').length === 2)
  instead.push(chainB.mine(some("7'"), 'other'))
  await holdHeads(t, watching, [...kept, ...dropped, ...instead])
  const removed = added(dropped).map(log => ({ ...log, removed: true }))
  const total = before + removed.length + added(instead).length
  await client.when('all logs', () => client.notifications(watching.logs).length >= total)
  const told = client.notifications(watching.logs)
  t.strictSame(sorted(told.slice(before, before + removed.length)), sorted(removed), 'first what is no more')
  t.strictSame(told.slice(before + removed.length), added(instead), 'then what is instead, and nothing twice')
  t.equal(client.over, undefined)
})
const sorted = (logs: readonly any[]) => logs.map(log => JSON.stringify(log)).sort()

t.test('a reorg within the gap that is as long as what was told, and no longer', async t => {
  const watching = await watch(t, 'deep')
  const { a, b, chainB, mine } = watching
  const kept = [mine()]
  const dropped = Array.from({ length: 20 }, (_, i) => mine(i % 7 === 0 ? some(`${i}`) : []))
  await holdHeads(t, watching, [...kept, ...dropped])
  const closing = a.close()
  chainB.dropAbove(kept[0]!.number)
  const instead = dropped.map((_, i) => chainB.mine(i % 5 === 0 ? some(`${i}'`) : [], 'other'))
  await closing
  await b.when('both subscriptions', () => b.live('eth_subscribe').length === 2)
  instead.push(chainB.mine(some('last'), 'other'))
  await holdHeads(t, watching, [...kept, ...dropped, ...instead])
  const { client, logs } = watching
  const before = added(dropped).length
  const total = 2 * before + added(instead).length
  await client.when('all logs', () => client.notifications(logs).length >= total)
  const told = client.notifications(logs)
  const removed = added(dropped).map(log => ({ ...log, removed: true }))
  t.strictSame(sorted(told.slice(before, 2 * before)), sorted(removed))
  t.strictSame(told.slice(2 * before), added(instead))
})

t.test('a gap of 128 blocks is filled', async t => {
  const watching = await watch(t, 'widest')
  const { a, b, mine } = watching
  const blocks = [mine(some('first'))]
  await holdHeads(t, watching, blocks)
  await holdLogs(t, watching, added(blocks))
  const closing = a.close()
  for (let i = 0; i < 128; i++) blocks.push(mine(i % 50 === 0 ? some(`${i}`) : []))
  await closing
  await b.when('both subscriptions', () => b.live('eth_subscribe').length === 2)
  await holdHeads(t, watching, blocks)
  blocks.push(mine(some('last')))
  await holdHeads(t, watching, blocks)
  await holdLogs(t, watching, added(blocks))
})

t.test('a gap of 129 blocks closes 1012, for whoever would miss something', async t => {
  const watching = await watch(t, 'too-wide')
  const { a, b, client, mine, access } = watching
  const onlyLogs = await openClient(t, access)
  await onlyLogs.subscribe('eth_subscribe', ['logs', { address: someAddress }])
  const onlyPending = await openClient(t, access)
  const pending = await onlyPending.subscribe('eth_subscribe', ['newPendingTransactions'])
  await holdHeads(t, watching, [mine(some('1'))])
  const closing = a.close()
  for (let i = 0; i < 129; i++) mine()
  await closing
  // Such a jump is believed of the route that is left once three probes of the other have failed; the contract gives it 30 s.
  const soon = 30_000
  t.equal((await client.closedBy('heads and logs', soon)).code, 1012)
  t.equal((await onlyLogs.closedBy('logs', soon)).code, 1012)
  await b.when('pending transactions', () => b.live('eth_subscribe', 'newPendingTransactions').length === 1)
  b.push('eth_subscribe', '"0x03"', one => one.params.includes('Pending'))
  t.strictSame(await onlyPending.notified(pending, 1), ['0x03'], 'others miss nothing and go on')
  const again = await openClient(t, access)
  const heads = await again.subscribe('eth_subscribe', ['newHeads'])
  const { hash } = mine()
  t.match(await again.notified(heads, 1), [{ hash }])
})

t.test('a gap in which nothing happened is no gap', async t => {
  const watching = await watch(t, 'quiet')
  const { a, b, mine } = watching
  const blocks = [mine(some('1'))]
  await holdHeads(t, watching, blocks)
  await holdLogs(t, watching, added(blocks))
  await a.close()
  await b.when('both subscriptions', () => b.live('eth_subscribe').length === 2)
  blocks.push(mine(some('2')))
  await holdHeads(t, watching, blocks)
  await holdLogs(t, watching, added(blocks))
})

t.test('a gap before the first notification is a gap too', async t => {
  const watching = await watch(t, 'late')
  const { a, b, mine } = watching
  const closing = a.close()
  const blocks = [mine(some('1')), mine(some('2'))]
  await closing
  await b.when('both subscriptions', () => b.live('eth_subscribe').length === 2)
  blocks.push(mine(some('3')))
  const { client, heads, logs } = watching
  const last = blocks.at(-1)!.hash
  await client.when('the last head', () => client.notifications(heads).some(head => head.hash === last))
  const all = added(blocks)
  const lastLog = JSON.stringify(all.at(-1))
  await client.when('the last log', () => client.notifications(logs).some(log => same(log, lastLog)))
  // Nobody was told a block before, so where the filling begins is the gateway's choice; what it tells is whole.
  const told = client.notifications(heads).map(head => String(head.hash))
  t.strictSame(
    told,
    blocks.slice(-told.length).map(({ hash }) => hash),
  )
  t.strictSame(client.notifications(logs), all.slice(all.length - client.notifications(logs).length))
})

t.test('a route that does not take the subscription is passed over', async t => {
  const watching = await watch(t, 'unable')
  const { a, b, mine, client } = watching
  const blocks = [mine(some('1'))]
  await holdHeads(t, watching, blocks)
  let refusals = 0
  b.onSubscribe(() =>
    refusals++ < 4 ? { error: '{"code":-32601,"message":"notifications not supported"}' } : 'accept',
  )
  const closing = a.close()
  for (const label of ['2', '3']) blocks.push(mine(some(label)))
  await closing
  await b.when('both subscriptions', () => b.live('eth_subscribe').length === 2, 30_000)
  blocks.push(mine(some('4')))
  await holdHeads(t, watching, blocks)
  await holdLogs(t, watching, added(blocks))
  t.equal(client.over, undefined)
})

t.test('a filling that fails at first is tried again', async t => {
  const watching = await watch(t, 'sick')
  const { a, b, mine, client } = watching
  const blocks = [mine(some('1'))]
  await holdHeads(t, watching, blocks)
  await holdLogs(t, watching, added(blocks))
  const [block, logs] = [b.handler('eth_getBlockByNumber')!, b.handler('eth_getLogs')!]
  const sick = error('{"code":-32603,"message":"internal error"}')
  let failures = 0
  b.on('eth_getBlockByNumber', (request, response) =>
    (request.params.includes('"0x') && failures++ < 1 ? sick : block)(request, response),
  )
  let logFailures = 0
  b.on('eth_getLogs', (request, response) => (logFailures++ < 1 ? sick : logs)(request, response))
  const closing = a.close()
  for (const label of ['2', '3']) blocks.push(mine(some(label)))
  await closing
  await b.when('a subscription', () => b.subscriptions.length > 0)
  await holdHeads(t, watching, blocks)
  blocks.push(mine(some('4')))
  await holdHeads(t, watching, blocks)
  await holdLogs(t, watching, added(blocks))
  t.equal(client.over, undefined)
})

t.test('the way back works as the way there', async t => {
  const watching = await watch(t, 'again')
  const { a, b, mine, client } = watching
  const blocks = [mine(some('1'))]
  await holdHeads(t, watching, blocks)
  const serving = [a, b, a]
  for (const [i, node] of serving.slice(0, -1).entries()) {
    const next = serving[i + 1]!
    const closing = node.close()
    blocks.push(mine(some(`${i}`)), mine())
    await closing
    await next.when('both subscriptions', () => next.live('eth_subscribe').length === 2, 25_000)
    blocks.push(mine(some(`${i}!`)))
    await holdHeads(t, watching, blocks)
    if (i === 0) await node.listen()
  }
  await holdLogs(t, watching, added(blocks))
  t.equal(client.over, undefined)
})

t.test('a crowd of clients keep their ids and miss nothing, and the nodes keep one subscription', async t => {
  const watching = await watch(t, 'crowd')
  const { a, b, mine, access } = watching
  const others = await Promise.all(Array.from({ length: 40 }, () => openClient(t, access)))
  const crowd: Watching[] = []
  for (const client of others)
    crowd.push({
      ...watching,
      client,
      heads: await client.subscribe('eth_subscribe', ['newHeads']),
      logs: await client.subscribe('eth_subscribe', ['logs', { address: someAddress }]),
    })
  t.equal(a.live('eth_subscribe').length, 2)
  const blocks = [mine(some('1'))]
  const closing = a.close()
  for (const label of ['2', '3', '4']) blocks.push(mine(some(label)))
  await closing
  await b.when('both subscriptions', () => b.live('eth_subscribe').length >= 2)
  blocks.push(mine(some('5')))
  for (const one of [watching, ...crowd]) {
    await holdHeads(t, one, blocks)
    await holdLogs(t, one, added(blocks))
  }
  t.equal(b.live('eth_subscribe').length, 2)
})

t.test('whoever joins meanwhile is told what comes, not what was', async t => {
  const watching = await watch(t, 'joins')
  const { a, b, mine, access } = watching
  const blocks = [mine(some('1'))]
  await holdHeads(t, watching, blocks)
  const closing = a.close()
  blocks.push(mine(some('2')), mine(some('3')))
  await closing
  const late = await openClient(t, access)
  const heads = await late.subscribe('eth_subscribe', ['newHeads'])
  await b.when('both subscriptions', () => b.live('eth_subscribe').length === 2)
  const next = [mine(some('4')), mine(some('5'))]
  blocks.push(...next)
  await holdHeads(t, watching, blocks)
  const last = next.at(-1)!.hash
  await late.when('the last head', () => late.notifications(heads).some(head => head.hash === last))
  const told = late.notifications(heads).map(head => String(head.hash))
  t.strictSame(
    told,
    blocks.slice(-told.length).map(({ hash }) => hash),
    'contiguous, whatever it begins with',
  )
})

t.test('whoever subscribes while a gap is filled for nobody begins anew', async t => {
  const { a, b, chainA, chainB } = pairs.get('left')!
  const access = await account.another('left')
  const mine = () => {
    chainB.mine([])
    return chainA.mine([])
  }
  const client = await openClient(t, access)
  const before = await client.subscribe('eth_subscribe', ['newHeads'])
  mine()
  await client.notified(before, 1)
  const gate = new Gate()
  b.on('eth_getBlockByNumber', held(gate, b.handler('eth_getBlockByNumber')!))
  const closing = a.close()
  for (let i = 0; i < 129; i++) mine()
  await closing
  await b.when('the question how far the chain is', () => gate.held > 0)
  await client.close()
  const late = await openClient(t, access)
  const heads = await late.subscribe('eth_subscribe', ['newHeads'])
  gate.open()
  await late.call('eth_blockNumber')
  const { hash } = mine()
  t.match(await late.notified(heads, 1), [{ hash }])
})
