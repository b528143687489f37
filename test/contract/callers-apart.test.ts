/** Callers who share upstream calls, bodies, subscriptions and sockets: what one of them sends does not decide for another. */
import t from 'tap'
import { message } from '../support/access.ts'
import { createAccess } from '../support/accounts.ts'
import { takeBodies } from '../support/batching-node.ts'
import { Gate } from '../support/gate.ts'
import { startGateway } from '../support/gateway.ts'
import { result } from '../support/node-replies.ts'
import { ScriptedChain } from '../support/scripted-chain.ts'
import { startNode } from '../support/scripted-node.ts'
import { startSocketNode } from '../support/scripted-socket-node.ts'
import { openClient } from '../support/socket-client.ts'
import { until } from '../support/until.ts'

const chainId = 1001
const FILTERED = '<script>'
/** Two nodes of one chain, the second a spare, with WebSocket. */
async function startPair(t: Parameters<typeof startSocketNode>[0]) {
  const chains = [new ScriptedChain(), new ScriptedChain()] as const
  const [first, second] = [
    await startSocketNode(t, { chainId, chain: chains[0] }),
    await startSocketNode(t, { chainId, chain: chains[1] }),
  ]
  const gateway = await startGateway(t, {
    networks: { alpha: { chainId } },
    routes: [
      { id: 'alpha-a', network: 'alpha', http: first.url, ws: first.wsUrl },
      { id: 'alpha-b', network: 'alpha', http: second.url, ws: second.wsUrl, priority: 2 },
    ],
  })
  await gateway.headKnown('alpha')
  const client = async () => openClient(t, await createAccess(gateway, 'paid', 'alpha'))
  const mine = () => {
    for (const chain of chains) chain.mine()
  }
  return { first, second, mine, bystander: await client(), stranger: await client() }
}

t.test('bug: a call waited for a slow item that another caller had put beside an equal one', async t => {
  const node = await startNode(t, { chainId })
  takeBodies(node)
  const gate = new Gate()
  node.on('eth_getBlockReceipts', async (request, response) => {
    if (request.params.includes('0x200')) await gate.pass()
    await result('[]')(request, response)
  })
  const gateway = await startGateway(t, {
    networks: { alpha: { chainId } },
    routes: [{ id: 'alpha-a', network: 'alpha', http: node.url, batch: 20 }],
  })
  await gateway.headKnown('alpha')
  const [bystander, stranger] = [
    await createAccess(gateway, 'paid', 'alpha'),
    await createAccess(gateway, 'paid', 'alpha'),
  ]
  const items = ['0x100', '0x200'].map((block, id) => message('eth_getBlockReceipts', [block], id))
  const slow = stranger.post(`[${items.join()}]`)
  await until('the body is at the node', () => Promise.resolve(gate.held === 1))
  t.match(await bystander.call('eth_getBlockReceipts', ['0x100']), { result: [] })
  t.equal(gate.held, 1, 'while the other item is still worked at')
  gate.open()
  t.equal((await slow).status, 200)
})

t.test('bug: an upstream was subscribed in the words of the first caller, whatever their length', async t => {
  const { first, bystander, stranger } = await startPair(t)
  const address = `0x${'ab'.repeat(20)}`
  first.onSubscribe(({ params }) =>
    params.length > 40_000 ? { error: '{"code":-32602,"message":"exceed max addresses"}' } : 'accept',
  )
  await stranger.subscribe('eth_subscribe', ['logs', { address: Array(1_200).fill(address) }])
  await bystander.subscribe('eth_subscribe', ['logs', { address }])
  t.strictSame(
    first.live().map(({ params }) => params.length < 200),
    [true],
    'one upstream subscription, as short as it can be',
  )
})

t.test('bug: who joined a subscription of a caller that cuts sockets shared its socket', async t => {
  const { first, second, mine, bystander, stranger } = await startPair(t)
  for (const node of [first, second])
    node.onSubscribe(({ params }) => (params.includes(FILTERED) ? 'cut' : 'accept'))
  const lasting = () => [...first.live(), ...second.live()].length
  const cut = (n: number) => stranger.call('eth_subscribe', ['logs', { topics: [`${FILTERED}${n}`] }])
  await cut(1)
  await stranger.subscribe('eth_subscribe', ['newHeads'])
  const heads = await bystander.subscribe('eth_subscribe', ['newHeads'])
  t.equal(lasting(), 2, 'each has an upstream subscription')
  mine()
  await until('the first head', () => Promise.resolve(bystander.notifications(heads).length === 1))
  await cut(2)
  t.ok(lasting() <= 2)
  mine()
  await until('the next head', () => Promise.resolve(bystander.notifications(heads).length === 2))
})

t.test(
  'bug: subscriptions that one route took had another close the common socket again and again',
  async t => {
    const { first, second, mine, bystander, stranger } = await startPair(t)
    second.onSubscribe(({ params }) => (params.includes(FILTERED) ? 'cut' : 'accept'))
    for (let n = 0; n < 20; n += 1)
      await stranger.subscribe('eth_subscribe', ['logs', { topics: [`${FILTERED}${n}`] }])
    const heads = await bystander.subscribe('eth_subscribe', ['newHeads'])
    first.refusesSockets = true
    await first.close()
    await until('the bystander is carried by the second route', () =>
      Promise.resolve(second.live().some(({ params }) => params.includes('newHeads'))),
    )
    const seen = () => bystander.notifications(heads).length
    const begin = seen()
    for (let block = 1; block <= 20; block += 1) {
      mine()
      await until('each head', () => Promise.resolve(seen() >= begin + block))
    }
    t.equal(bystander.over, undefined)
    t.ok(second.upgrades.length < 40, `${second.upgrades.length} sockets at the second node`)
  },
)
