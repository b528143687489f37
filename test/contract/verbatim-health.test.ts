import t from 'tap'
import { createAccesses } from '../support/accesses.ts'
import { runJson } from '../support/cli.ts'
import { Gate } from '../support/gate.ts'
import { startGateway } from '../support/gateway.ts'
import { routesLookedAt, routesOf } from '../support/route-status.ts'
import { startHttpNode, type ScriptedHttpNode } from '../support/scripted-http-node.ts'
import { until } from '../support/until.ts'

const genesis = `0x${'4b'.repeat(32)}`
const methods = `notification: { cost: 1 }
families:
  http:
    "GET /eth/v1/node/*": {}
    "GET /eth/v1/beacon/genesis": {}
    "GET /plain/*": {}
    "POST /plain/*": {}
    "GET /debug/*": { needs: [debug] }
`
/** Two nodes of one network; what they are asked for tells them apart. */
const pairs = ['lag', 'sync', 'chain', 'breaker', 'pause', 'full', 'debug', 'rate', 'plain'] as const
const nodes = new Map<string, ScriptedHttpNode>()
for (const slug of pairs)
  for (const letter of ['a', 'b']) {
    const node = await startHttpNode(t)
    node.otherwise((_, response) => {
      response.end(letter)
    })
    const root =
      slug === 'chain' && letter === 'a'
        ? genesis.replace('4b', '4c')
        : genesis.toUpperCase().replace('0X', '0x')
    node.on('/eth/v1/beacon/genesis', (_, response) => {
      response.end(JSON.stringify({ data: { genesis_validators_root: root } }))
    })
    nodes.set(`${slug}-${letter}`, node)
  }
nodes.get('lag-a')!.sync = { head: 100, syncing: false }
nodes.get('sync-a')!.sync = { head: 1000, syncing: true }
nodes.get('plain-b')!.sync = null

const more: Readonly<Record<string, object>> = {
  'full-a': { limits: { inFlight: 1 } },
  'rate-a': { limits: { perSecond: 2 } },
  'debug-b': { capabilities: ['debug'] },
}
const gateway = await startGateway(t, {
  methods,
  networks: {
    ...Object.fromEntries(
      pairs.map(slug => [slug, { family: 'http' as const, chainId: 'x', genesisHash: genesis }]),
    ),
    // Without a rule for the question nobody is asked.
    plain: {
      family: 'http',
      chainId: 'x',
      genesisHash: genesis,
      methods: { 'GET /eth/v1/node/*': { enabled: false }, 'GET /eth/v1/beacon/genesis': { enabled: false } },
    },
  },
  routes: [...nodes].map(([id, node], index) => ({
    id,
    network: id.split('-')[0]!,
    http: node.url,
    priority: 1 + (index % 2),
    ...more[id],
  })),
})
const accesses = await createAccesses(gateway, 'paid', pairs)
await routesLookedAt(gateway, ['plain-a', 'plain-b'])

/** The letter of the node that answers. */
async function ask(slug: (typeof pairs)[number], path = '/plain/x', verb = 'GET'): Promise<string> {
  const reply = await gateway.send({ method: verb, path: accesses.in(slug).path + path })
  return reply.status === 200 ? reply.text : String(reply.status)
}

t.test('calls keep away from a node that is behind, syncing, or of another chain', async t => {
  t.equal(await ask('lag'), 'b')
  t.equal(await ask('sync'), 'b')
  t.equal(await ask('chain'), 'b')
  t.match(gateway.printed, /another genesis/)
  const routes = await routesOf(gateway)
  t.match(
    routes.find(({ id }) => id === 'lag-a'),
    { healthy: false, head: 100, lag: 900 },
  )
  t.match(
    routes.find(({ id }) => id === 'sync-a'),
    { healthy: false, why: /syncing/ },
  )
  t.match(
    routes.find(({ id }) => id === 'chain-a'),
    { healthy: false, why: /genesis/ },
  )
  t.match(
    routes.find(({ id }) => id === 'full-a'),
    { healthy: true, head: 1000, lag: 0 },
  )
})

t.test('explain knows what the gateway has found out', async t => {
  const { live, routes } = await runJson(gateway.dir, ['explain', 'lag', 'GET /eth/v1/node/version'])
  t.equal(live, true)
  t.match(routes, [
    { id: 'lag-a', able: false, why: /900 blocks behind/ },
    { id: 'lag-b', able: true },
  ])
})

t.test('a route that fails three times is left alone', async t => {
  const bad = nodes.get('breaker-a')!
  bad.on('/plain/x', (_, response) => {
    response.writeHead(500).end()
  })
  t.strictSame([await ask('breaker'), await ask('breaker'), await ask('breaker')], ['b', 'b', 'b'])
  t.equal(bad.asked('/plain/x').length, 3)
  t.equal(await ask('breaker', '/plain/y'), 'b')
  t.equal(bad.asked('/plain/y').length, 0)
})

t.test('a route whose upstream asks for a pause gets one', async t => {
  const full = nodes.get('pause-a')!
  full.on('/plain/x', (_, response) => {
    response.writeHead(429, { 'retry-after': '30' }).end()
  })
  t.equal(await ask('pause'), 'b')
  await new Promise(resolve => setTimeout(resolve, 1_200)) // longer than the pause of one who does not say how long
  t.equal(await ask('pause'), 'b')
  t.equal(full.asked('/plain/x').length, 1)
})

t.test('only a route that can is asked', async t => {
  t.equal(await ask('debug', '/debug/x'), 'b')
  t.equal(await ask('debug'), 'a')
})

t.test('a route at its limits is passed over until its reply has ended', async t => {
  const gate = new Gate()
  nodes.get('full-a')!.on('/plain/held', async (_, response) => {
    response.write('a ')
    await gate.pass()
    response.end('a')
  })
  const held = ask('full', '/plain/held')
  await nodes.get('full-a')!.arrived('/plain/held')
  t.equal(await ask('full'), 'b', 'its head has come, its body not')
  gate.open()
  t.equal(await held, 'a a')
  await until('it has room again', async () => (await ask('full')) === 'a')
  t.equal(await ask('rate'), 'a')
  t.strictSame(
    new Set([await ask('rate'), await ask('rate'), await ask('rate')]).has('b'),
    true,
    'per second',
  )
})

t.test(
  'where no rule has the question, traffic alone tells health; no node is ever sent JSON-RPC',
  async t => {
    t.equal(await ask('plain'), 'a')
    const [a, b] = [nodes.get('plain-a')!, nodes.get('plain-b')!]
    t.strictSame([a.looks, b.looks, a.requests.length, b.requests.length], [0, 0, 1, 0])
    await a.close()
    t.equal(await ask('plain'), 'b', 'GET goes on')
    t.equal(await ask('plain', '/plain/x', 'POST'), 'b', 'and so does POST, of which nothing was sent')
    for (const [id, { requests }] of nodes)
      t.notOk(
        requests.some(({ verb, url }) => verb === 'POST' && !url.includes('/plain/')),
        id,
      )
  },
)
