import t, { type Test } from 'tap'
import { createAccess } from '../support/accounts.ts'
import { startGateway } from '../support/gateway.ts'
import { result } from '../support/node-replies.ts'
import { ScriptedChain, hex, someAddress, type Block } from '../support/scripted-chain.ts'
import { startSocketNode, type ScriptedSocketNode } from '../support/scripted-socket-node.ts'
import { openClient, type SocketClient } from '../support/socket-client.ts'
import { until } from '../support/until.ts'

/** Every scenario has a network of its own, whose first node carries all subscriptions while nothing is wrong. */
const scenarios = { silent: 3, behind: 3, alone: 1, steady: 3, 'quiet-sol': 2 } as const
type Slug = keyof typeof scenarios
/** What a look at routes takes: probes are 5 s apart, and a socket must be behind for 5 s. */
const NOTICED = 40_000

const scenes = await Promise.all(
  Object.entries(scenarios).map(async ([slug, count], i) => {
    const isSolana = slug === 'quiet-sol'
    const chains = Array.from({ length: count }, () => new ScriptedChain())
    const nodes = await Promise.all(
      chains.map(chain => startSocketNode(t, isSolana ? {} : { chainId: 1_200 + i, chain })),
    )
    return { slug: slug as Slug, isSolana, chains, nodes, chainId: isSolana ? slug : 1_200 + i }
  }),
)
const gateway = await startGateway(t, {
  networks: Object.fromEntries(
    scenes.map(({ slug, isSolana, chainId }) => [
      slug,
      { family: isSolana ? ('solana' as const) : ('evm' as const), chainId, maxLag: 2 },
    ]),
  ),
  routes: scenes.flatMap(({ slug, nodes }) =>
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
const account = await createAccess(gateway, 'paid', 'silent')

async function start(t: Test, slug: Slug) {
  const scene = scenes.find(one => one.slug === slug)!
  await gateway.headKnown(slug)
  const access = slug === 'silent' ? account : await account.another(slug)
  const client = await openClient(t, access)
  const mine = (): Block => scene.chains.map(chain => chain.mine([{}])).at(-1)!
  return { ...scene, client, mine }
}

/** Every node has been asked for its head so many times more. */
async function probed(nodes: readonly ScriptedSocketNode[], times: number): Promise<void> {
  const counts = () => nodes.map(node => node.requests.filter(one => one.method === 'eth_blockNumber').length)
  const before = counts()
  const enough = () => Promise.resolve(counts().every((count, i) => count >= before[i]! + times))
  await until(`${times} probes of every node`, enough, NOTICED)
}

const told = (client: SocketClient, id: string, member: string): string[] =>
  client.notifications(id).map(message => String(message[member]))

// Each waits for looks at its own network.
t.jobs = 4
t.test('what falls silent while its node goes on is moved, and nothing is missed', async t => {
  const { nodes, client, mine } = await start(t, 'silent')
  const [bad, next, last] = nodes
  const heads = await client.subscribe('eth_subscribe', ['newHeads'])
  const logs = await client.subscribe('eth_subscribe', ['logs', { address: someAddress }])
  const blocks = [mine(), mine()]
  await client.notified(heads, 2)
  bad!.announces = false
  for (let i = 0; i < 30; i++) blocks.push(mine())
  await next!.when('both', () => next!.live('eth_subscribe').length === 2, NOTICED)
  blocks.push(mine())
  const { hash } = blocks.at(-1)!
  await client.when('the last head', () => told(client, heads, 'hash').includes(hash))
  await client.when('the last log', () => told(client, logs, 'blockHash').includes(hash))
  const all = blocks.map(block => block.hash)
  t.strictSame(told(client, heads, 'hash'), all)
  t.strictSame(told(client, logs, 'blockHash'), all)
  t.strictSame(
    nodes.map(({ upgrades }) => upgrades.length),
    [1, 1, 0],
  )
  t.equal(last!.live().length, 0)
  t.match(gateway.printed, /"route":"silent-0","why":"its subscriptions are behind the network"/)
  t.equal(client.over, undefined)
})

t.test('logs alone are moved when their node falls behind', async t => {
  const { nodes, chains, client } = await start(t, 'behind')
  const logs = await client.subscribe('eth_subscribe', ['logs', { address: someAddress }])
  const mineOn = (which: readonly ScriptedChain[]) => which.map(chain => chain.mine([{}])).at(-1)!
  const blocks = [mineOn(chains)]
  await client.notified(logs, 1)
  for (let i = 0; i < 30; i++) blocks.push(mineOn(chains.slice(1)))
  await nodes[1]!.when('the logs', () => nodes[1]!.live('eth_subscribe').length === 1, NOTICED)
  blocks.push(mineOn(chains.slice(1)))
  const { hash } = blocks.at(-1)!
  await client.when('the last log', () => told(client, logs, 'blockHash').includes(hash))
  t.strictSame(
    told(client, logs, 'blockHash'),
    blocks.map(block => block.hash),
  )
})

t.test('the only route gets another socket when its subscriptions are silent', async t => {
  const { nodes, client, mine } = await start(t, 'alone')
  const [bad] = nodes
  const heads = await client.subscribe('eth_subscribe', ['newHeads'])
  const blocks = [mine()]
  await client.notified(heads, 1)
  bad!.announces = false
  for (let i = 0; i < 10; i++) blocks.push(mine())
  await bad!.when('another socket', () => bad!.upgrades.length === 2 && bad!.live().length === 1, NOTICED)
  bad!.announces = true
  blocks.push(mine())
  await client.when('the last head', () => told(client, heads, 'hash').includes(blocks.at(-1)!.hash))
  t.strictSame(
    told(client, heads, 'hash'),
    blocks.map(block => block.hash),
  )
})

t.test('neither a slow chain nor a node that claims more moves anything', async t => {
  const { nodes, chains, client, mine } = await start(t, 'steady')
  const quiet = await start(t, 'quiet-sol')
  const slots = await quiet.client.subscribe('slotSubscribe')
  const heads = await client.subscribe('eth_subscribe', ['newHeads'])
  await client.subscribe('eth_subscribe', ['logs', { address: `0x${'77'.repeat(20)}` }])
  nodes[2]!.on('eth_blockNumber', (...call) => {
    result(`"${hex(chains[2]!.head.number + 60)}"`)(...call)
  })
  const blocks: Block[] = []
  for (let i = 0; i < 3; i++) {
    blocks.push(mine())
    await probed(nodes, 2)
  }
  t.strictSame(
    told(client, heads, 'hash'),
    blocks.map(block => block.hash),
  )
  t.strictSame(
    nodes.map(({ upgrades }) => upgrades.length),
    [1, 0, 0],
  )
  t.strictSame(
    quiet.nodes.map(({ upgrades }) => upgrades.length),
    [1, 0],
  )
  t.equal(quiet.client.notifications(slots).length, 0)
})
