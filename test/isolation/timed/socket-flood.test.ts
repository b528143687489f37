import t, { type Test } from 'tap'
import { setImmediate as turn } from 'node:timers/promises'
import { createAccess } from '../../support/accounts.ts'
import { Gate } from '../../support/gate.ts'
import { memoryIsVisible, resident } from '../../support/memory.ts'
import { held } from '../../support/node-replies.ts'
import { someAddress, type ScriptedChain } from '../../support/scripted-chain.ts'
import type { ScriptedSocketNode } from '../../support/scripted-socket-node.ts'
import { openClient } from '../../support/socket-client.ts'
import { startSocketPairs } from '../../support/socket-pairs.ts'
import { until } from '../../support/until.ts'

const MiB = 2 ** 20
const slugs = ['early', 'gap', 'stray', 'heads', 'large'] as const
type Slug = (typeof slugs)[number]
const { gateway, pairs } = await startSocketPairs(t, slugs, 600)
const account = await createAccess(gateway, 'paid', 'early')
const stranger = await createAccess(gateway, 'paid', 'early')

async function start(t: Test, slug: Slug) {
  const access = slug === 'early' ? account : await account.another(slug)
  return { ...pairs.get(slug)!, access, client: await openClient(t, access) }
}

/** Sends frames as fast as the other side takes them. */
async function pour(node: ScriptedSocketNode, times: number, frame: (i: number) => string): Promise<void> {
  for (let i = 0; i < times && node.sockets > 0; i++) {
    node.sendAll(frame(i))
    if (i % 64 === 0) await turn()
  }
}

const stray = (i: number, size = 10) =>
  `{"jsonrpc":"2.0","method":"eth_subscription","params":{"subscription":"0xdead${i}","result":"${'f'.repeat(size)}"}}`

/** What the log says of a route whose socket was cut. */
const cut = (slug: Slug) =>
  until(`the log names ${slug}-a`, () =>
    Promise.resolve(
      gateway.printed
        .split('\n')
        .find(line => line.includes(`"route":"${slug}-a"`) && line.includes('"why"')),
    ),
  )

/** Holds that a subscription to heads hears of the next block, through whichever route. */
async function goesOn(
  { chainA, chainB }: { chainA: ScriptedChain; chainB: ScriptedChain },
  client: Awaited<ReturnType<typeof openClient>>,
  heads: string,
): Promise<void> {
  chainB.mine()
  const { hash } = chainA.mine()
  await client.when(
    'the next head',
    () => client.notifications(heads).some(head => head?.hash === hash),
    20_000,
  )
}

t.test('what comes before the reply to a subscribe request is held within bounds', async t => {
  if (!memoryIsVisible) {
    t.pass('memory is not visible here')
    return
  }
  const watching = await start(t, 'early')
  const { a, b, client } = watching
  const heads = await client.subscribe('eth_subscribe', ['newHeads'])
  await goesOn(watching, client, heads)
  a.onSubscribe(() => 'silence')
  const other = await openClient(t, stranger)
  const asked = other.call('eth_subscribe', ['logs', { address: someAddress }])
  await a.when('the subscribe call', () => a.socketRequests.some(({ params }) => params.includes('logs')))
  const before = await resident(gateway.pid)
  await pour(a, 600, i => stray(i, MiB / 2))
  t.match(await cut('early'), /belong to no subscription/)
  const grown = (await resident(gateway.pid)) - before
  t.ok(grown < 160 * MiB, `${Math.round(grown / MiB)} MiB more`)
  t.match(await asked, { result: /^0x/ }, 'the other route has it')
  await b.when('the subscriptions', () => b.live('eth_subscribe').length === 2)
  await goesOn(watching, client, heads)
})

t.test('what comes while a gap is filled is held within bounds, and the client starts again', async t => {
  const watching = await start(t, 'gap')
  const { a, b, client, chainA, chainB } = watching
  const logs = await client.subscribe('eth_subscribe', ['logs', { address: someAddress }])
  chainB.mine([{}])
  chainA.mine([{}])
  await client.notified(logs, 1)
  const gate = new Gate()
  t.teardown(() => {
    gate.open()
  })
  b.on('eth_getLogs', held(gate, b.handler('eth_getLogs')!))
  a.refusesSockets = true
  a.dropSockets()
  await b.when('the question for logs', () => b.socketRequests.some(({ method }) => method === 'eth_getLogs'))
  const data = 'ab'.repeat(MiB / 8)
  for (let i = 0; i < 60; i++) {
    b.push('eth_subscribe', `{"blockNumber":"0x1002","blockHash":"0x1","logIndex":"0x${i}","data":"${data}"}`)
    await turn()
  }
  t.match(await client.closedBy('the backlog', 9_000), { code: 1012, reason: /faster/ })
})

t.test('frames that are for nobody cut the socket, and others hear on', async t => {
  const watching = await start(t, 'stray')
  const { a, client, access } = watching
  const heads = await client.subscribe('eth_subscribe', ['newHeads'])
  await goesOn(watching, client, heads)
  const kinds = [
    stray,
    (i: number) => `{"jsonrpc":"2.0","id":${1_000_000 + i},"result":"0x1"}`,
    () => 'x',
    () => '[]',
    () => '{"id":{"toString":1},"result":1}',
  ]
  const state = { pouring: true }
  const poured = pour(a, 60_000, i => kinds[i % kinds.length]!(i)).then(() => {
    state.pouring = false
  })
  let slowest = 0
  for (let i = 0; state.pouring || i < 10; i++) {
    const begin = performance.now()
    t.match(await access.call('eth_chainId'), { result: '0x25a' })
    slowest = Math.max(slowest, performance.now() - begin)
  }
  await poured
  t.ok(slowest < 2_000, `${slowest} ms`)
  t.match(await cut('stray'), /belong to no subscription/)
  await goesOn(watching, client, heads)
})

t.test('more heads than any chain has are a flood: another route goes on', async t => {
  const watching = await start(t, 'heads')
  const { a, b, client, chainA, chainB } = watching
  const heads = await client.subscribe('eth_subscribe', ['newHeads'])
  chainB.mine()
  chainA.mine()
  await client.notified(heads, 1)
  const at = chainA.head.number
  for (let i = 0; i < 14_000 && a.live().length > 0; i++) {
    a.push('eth_subscribe', `{"number":"0x${at.toString(16)}","hash":"0x${i.toString(16)}"}`)
    if (i % 64 === 0) await turn()
  }
  t.match(await cut('heads'), /more messages than any chain/)
  await b.when('the subscription', () => b.live('eth_subscribe').length === 1)
  t.ok(client.notifications(heads).length <= 10_001)
})

t.test('a frame that is too large costs its socket only', async t => {
  const watching = await start(t, 'large')
  const { a, b, client } = watching
  const heads = await client.subscribe('eth_subscribe', ['newHeads'])
  await goesOn(watching, client, heads)
  a.sendAll(stray(1, 32 * MiB))
  await b.when('the subscription', () => b.live('eth_subscribe').length === 1)
  await goesOn(watching, client, heads)
  t.equal(client.over, undefined)
})

t.test('nothing of this was a bug', t => {
  t.notMatch(gateway.printed, /internal error/)
  t.end()
})
