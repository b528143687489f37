import t from 'tap'
import { formatProblem } from '../../src/config/problem.ts'
import { atOnce } from '../../src/reload/time-slices.ts'
import { dump } from '../../src/snapshot/dump.ts'
import { findMethod } from '../../src/snapshot/find-method.ts'
import { Heads } from '../../src/routes/heads.ts'
import { Upstreams } from '../../src/routes/upstreams.ts'
import { load, snapshotOf } from '../support/snapshot.ts'

const routes = `
routes:
  - { id: plain, network: eth, http: "http://127.0.0.1:1/key-in-path", priority: 2, headers: { X-Key: operator-secret } }
  - { id: rich, network: eth, http: "http://127.0.0.1:1", ws: "ws://127.0.0.1:1", capabilities: [archive, trace] }
  - { id: picky, network: eth, http: "http://127.0.0.1:1", methods: { deny: [eth_gasPrice] } }
  - { id: off, network: eth, http: "http://127.0.0.1:1", enabled: false }
`
const methods = `
notification: { cost: 1 }
families:
  evm:
    eth_gasPrice: {}
    eth_subscribe: { needs: [ws], subscribe: eth_unsubscribe }
    trace_block: { cost: 20, tier: paid, needs: [trace] }
    debug_traceCall: { cost: 5, tier: paid, needs: [debug] }
    eth_elsewhere: { networks: [] }
    eth_off: { enabled: false }
    trace_*: { tier: paid, needs: [trace] }
    trace_replay*: { tier: paid, cost: 7, needs: [trace] }
`

t.test('each method is joined with its able routes, and says why others are skipped', async t => {
  const { networks } = await snapshotOf(t, { routes, methods })
  const { methods: rows, disabled, wss, maxCost } = networks['eth']!
  t.strictSame(rows['eth_gasPrice']?.routes, ['rich', 'plain'])
  t.strictSame(rows['eth_gasPrice']?.skipped, [{ id: 'picky', why: 'its methods.deny lists it' }])
  t.strictSame(rows['trace_block']?.routes, ['rich'])
  t.strictSame(rows['trace_block']?.archive, ['rich'])
  t.match(rows['trace_block']?.skipped, [
    { id: 'picky', why: 'it lacks the capability "trace"' },
    { id: 'plain' },
  ])
  t.strictSame(rows['debug_traceCall']?.unable, { reason: 'capability_missing', capability: 'debug' })
  t.match(rows['eth_unsubscribe']?.rule, { cost: 0, unsubscribes: 'eth_subscribe', needs: ['ws'] })
  t.equal(rows['eth_elsewhere'], undefined)
  t.equal(rows['eth_off'], undefined)
  t.strictSame([disabled, wss, maxCost], [['off'], true, 20])
})

t.test('methods that read the same take the bounds of the row, also where a pattern covers them', async t => {
  const rules = async (rows: string) => {
    const { networks } = await snapshotOf(t, { methods: `families: { evm: { ${rows} } }` })
    return (method: string) => findMethod(networks['eth']!, method)?.rule
  }
  const logs = 'eth_getLogs: { cost: 5, tier: paid, maxRange: 100, params: [1, 1] }'
  const by = await rules(`${logs}, "eth_*": { needs: [] }, eth_getFilterChanges: {}`)
  const range = { at: 0, kind: 'range' }
  t.match(by('eth_newFilter'), { match: 'eth_newFilter', cost: 1, tier: 'paid', maxRange: 100, block: range })
  t.match(by('eth_getFilterLogs'), { cost: 5, tier: 'paid', maxRange: 100, block: null, params: null })
  t.match(by('eth_getFilterChanges'), { cost: 1, tier: 'any', maxRange: null })
  t.equal(by('erigon_getLogs'), undefined, 'no row covers it')

  const own = await rules(`${logs}, eth_getFilterLogs: { cost: 2 }, eth_newFilter: { maxRange: 9 }`)
  t.match(own('eth_getFilterLogs'), { cost: 2, tier: 'paid', maxRange: 100 })
  t.match(own('eth_newFilter'), { tier: 'paid', maxRange: 9 })

  const off = await rules(
    'eth_getLogs: { enabled: false }, eth_newFilter: {}, eth_getFilterLogs: {}, "eth_*": {}',
  )
  for (const method of ['eth_getLogs', 'eth_getFilterLogs']) t.equal(off(method), undefined, method)
  t.match(off('eth_newFilter'), { cost: 1 }, 'for what is new')
  const { networks } = await snapshotOf(t, {
    methods: 'families: { evm: { eth_getLogs: { enabled: false }, eth_getFilterLogs: {} } }',
  })
  t.strictSame(
    networks['eth']!.absent['eth_getFilterLogs'],
    'eth_getLogs, which reads the same, says enabled: false',
  )
})

t.test('a pattern does not serve a name that another row has in another case', async t => {
  const { networks } = await snapshotOf(t, {
    methods: `families: { evm: { trace_block: { cost: 20 }, trace_off: { enabled: false }, "trace_*": {},
      "trace_replay*": { cost: 7 }, "trace_replayOff*": { enabled: false } } }`,
  })
  const found = (method: string) => findMethod(networks['eth']!, method)?.rule.match
  t.equal(found('trace_block'), 'trace_block')
  for (const method of ['trace_Block', 'trace_BLOCK', 'trace_Off', 'trace_ReplayX', 'trace_replayoffX'])
    t.equal(found(method), undefined, method)
  for (const [method, match] of [
    ['trace_Other', 'trace_*'],
    ['trace_replayX', 'trace_replay*'],
  ] as const)
    t.equal(found(method), match)
})

t.test('exact names win, then the longest pattern, and the deny list over both', async t => {
  const network = (await snapshotOf(t, { routes, methods })).networks['eth']!
  t.equal(findMethod(network, 'trace_block')?.rule.cost, 20)
  t.equal(findMethod(network, 'trace_replayTransaction')?.rule.match, 'trace_replay*')
  t.equal(findMethod(network, 'trace_get')?.rule.match, 'trace_*')
  t.equal(findMethod(network, 'TRACE_get'), null)
  t.equal(findMethod(network, 'constructor'), null)
  t.equal(findMethod(network, '__proto__'), null)
  const open = await snapshotOf(t, { methods: 'families: { evm: { "debug_*": {}, "a*": {} } }' })
  t.equal(findMethod(open.networks['eth']!, 'debug_setHead'), null)
  t.equal(findMethod(open.networks['eth']!, 'admin_peers'), null)
  t.ok(findMethod(open.networks['eth']!, 'debug_traceCall'))
})

t.test('a route that denies a name is skipped where a pattern covers it', async t => {
  const denying = routes.replace(
    'capabilities: [archive, trace]',
    'capabilities: [archive, trace], methods: { deny: [trace_*] }',
  )
  const network = (await snapshotOf(t, { routes: denying, methods })).networks['eth']!
  t.strictSame(findMethod(network, 'trace_get')?.unable, {
    reason: 'capability_missing',
    capability: 'trace',
  })
})

t.test("a network's own rules are laid over its family's, key by key", async t => {
  const networks = `
baseUrl: http://127.0.0.1:8080/{slug}
networks:
  eth: { name: Test, family: evm, chainId: 1, methods: { eth_off: { enabled: true }, trace_block: { cost: 3 }, eth_own: { cost: 2 } } }
`
  const snapshot = await snapshotOf(t, { networks, routes, methods })
  const { methods: rows, httpsUrl, wssUrl } = snapshot.networks['eth']!
  t.match(rows['trace_block']?.rule, { cost: 3, tier: 'paid', needs: ['trace'] })
  t.equal(rows['eth_own']?.rule.cost, 2)
  t.ok(rows['eth_off'])
  t.strictSame([httpsUrl, wssUrl], ['http://127.0.0.1:8080/eth', 'ws://127.0.0.1:8080/eth'])
  t.strictSame(Object.keys(snapshot.hosts), [])
})

t.test('equal configurations give equal snapshots, frozen all the way down', async t => {
  const [a, b] = [await snapshotOf(t, { routes, methods }), await snapshotOf(t, { routes, methods })]
  t.equal(a.version, b.version)
  t.not((await snapshotOf(t)).version, a.version)
  t.strictSame({ ...a.hosts }, { 'eth-rpc.example.test': 'eth' })
  const visit = (value: unknown, path: string): void => {
    if (typeof value !== 'object' || value === null) return
    if (!Object.isFrozen(value)) t.fail(`${path} is not frozen`)
    for (const [name, inner] of Object.entries(value)) visit(inner, `${path}.${name}`)
  }
  visit(a, 'snapshot')
})

t.test('a dump holds no secret of the operator', async t => {
  const text = JSON.stringify(dump(await snapshotOf(t, { routes, methods })))
  t.match(text, '"X-Key":"(hidden)"')
  t.notMatch(text, /operator-secret|key-in-path|127\.0\.0\.1:1/)
})

t.test('what no route can serve is a warning at the network', async t => {
  const { problems } = await load(t, { routes, methods })
  t.strictSame(problems.map(formatProblem), [
    'networks.yaml:4:3 networks.eth: warning: no route of eth has the capability "debug", which debug_traceCall needs [no-route:debug]',
  ])
})

t.test(
  "rows about node errors: the route's own come first, and an edit of them reconnects nothing",
  async t => {
    const routes = (shared: string, own: string): string =>
      `errors: [${shared}]\nroutes:\n  - { id: a, network: eth, http: "http://127.0.0.1:1", errors: [${own}] }\n  - { id: b, network: eth, http: "http://127.0.0.1:2" }\n`
    const snapshotWith = (shared: string, own: string) => snapshotOf(t, { routes: routes(shared, own) })
    const before = await snapshotWith('', '')
    const after = await snapshotWith('{ code: 7, class: limited }', '{ text: gone, class: missing }')
    const texts = after.networks['eth']!.routes.map(route =>
      route.errors.map(row => row.codes?.[0] ?? row.text),
    )
    t.strictSame(texts, [['gone', 7], [7]])
    t.not(after.version, before.version)
    const upstreams = new Upstreams(new Heads())
    upstreams.adopt(atOnce(upstreams.open(before)))
    const live = ['a', 'b'].map(id => upstreams.get(id))
    t.strictSame(upstreams.adopt(atOnce(upstreams.open(after))), [], 'no route is left behind')
    t.ok(live.every((one, index) => one === upstreams.get('ab'[index]!)))
    t.equal(upstreams.route('b')!.errors.length, 1, 'the rows of now are those of the snapshot')
    await upstreams.close()
  },
)
