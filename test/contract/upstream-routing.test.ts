import t, { type Test } from 'tap'
import { rawJson } from '../../src/jsonrpc/raw.ts'
import { Access, message } from '../support/access.ts'
import { createAccesses } from '../support/accesses.ts'
import { createAccess } from '../support/accounts.ts'
import { run } from '../support/cli.ts'
import type { NetworkYaml, RouteYaml } from '../support/config-files.ts'
import { fault, plain, tellsNothing } from '../support/faults.ts'
import { Gate } from '../support/gate.ts'
import { startGateway } from '../support/gateway.ts'
import { get, type HttpReply } from '../support/http.ts'
import { metric } from '../support/metrics.ts'
import { error, held, result } from '../support/node-replies.ts'
import { routesLookedAt, routesOf, type RouteStatus } from '../support/route-status.ts'
import { startNode, type NodeOptions, type ScriptedNode } from '../support/scripted-node.ts'
import { until } from '../support/until.ts'

const chainId = 1001
const networks: Record<string, NetworkYaml> = {}
const routes: RouteYaml[] = []
const nodes: ScriptedNode[] = []

type RouteOptions = NodeOptions & { readonly route?: Readonly<Record<string, unknown>> }

/** Declares a network whose routes `<slug>-a`, `<slug>-b` … lead to nodes that answer with their letter. */
async function declare(slug: string, ...wanted: readonly RouteOptions[]): Promise<ScriptedNode[]> {
  networks[slug] = { chainId, public: true, share: false, methods: { web3_sha3: { timeout: 'normal' } } }
  const own: ScriptedNode[] = []
  for (const [index, { route = {}, ...options }] of wanted.entries()) {
    const letter = 'abcd'[index]!
    const node = await startNode(t, { chainId, ...options })
    node.otherwise(answered(letter))
    routes.push({ id: `${slug}-${letter}`, network: slug, http: node.url, priority: index + 1, ...route })
    own.push(node)
  }
  nodes.push(...own)
  return own
}

const answered = (letter: string) => result(`"${letter}"`)
const equal = { route: { priority: 1 } }
const [breakerA, breakerB] = pairOf(await declare('breaker', {}, {}))
const [shakyA, shakyB] = pairOf(await declare('shaky', {}, {}))
const [silentA, silentB] = pairOf(await declare('silent', {}, {}))
const [lastA] = await declare('last', {})
const [pauseA, pauseB] = pairOf(await declare('pause', {}, {}))
const [pauseAllA] = await declare('pause-all', {})
const [roomA, roomB] = pairOf(await declare('room', { route: { limits: { inFlight: 2 } } }, {}))
const [roomAllA] = await declare('room-all', { route: { limits: { inFlight: 1 } } })
const [paceA, paceB] = pairOf(await declare('pace', { route: { limits: { perSecond: 5 } } }, {}))
const [paceAllA] = await declare('pace-all', { route: { limits: { perSecond: 2 } } })
const [filtersA, filtersB] = pairOf(await declare('filters', equal, equal))
const top = 0x2010
const [headsA, headsB] = pairOf(await declare('heads', { ...equal, head: top }, { ...equal, head: top - 2 }))
const [behindA, behindB] = pairOf(await declare('behind', { head: top - 1 }, { head: top }))
const archive = { route: { priority: 3, capabilities: ['archive'] } }
const [agesA, agesB, agesC] = await declare('ages', {}, {}, archive)
const [outA, outB, outC, outD] = await declare('out', { chainId: 1002 }, { head: 0xff0 }, {}, { head: 0xff0 })
const [farA, farB] = pairOf(await declare('far', { head: top - 1000 }, { head: top }))
outB!.on('eth_syncing', result('{"startingBlock":"0x0","currentBlock":"0x1","highestBlock":"0x2"}'))
outD!.on('eth_syncing', result('true'))
const [indexing, plainTrue, nitro] = await declare('at-head', {}, {}, {})
indexing!.on('eth_syncing', result('{"currentBlock":"0x1000","txIndexRemainingBlocks":"0x5"}'))
plainTrue!.on('eth_syncing', result('true'))
nitro!.on('eth_syncing', result('{"highestBlock":"0x0","msgCount":7}'))

function pairOf([a, b]: readonly ScriptedNode[]): [ScriptedNode, ScriptedNode] {
  return [a!, b!]
}

const gateway = await startGateway(t, { networks, routes })
const accesses = await createAccesses(gateway, 'paid', Object.keys(networks))
const stranger = await createAccess(gateway, 'paid', 'filters')
/** Another account: what the calls of one suffer is held against a route for that one alone. */
const others = await createAccesses(gateway, 'paid', ['breaker', 'silent', 'pause-all'])
/** Everything that clients were told. */
const told: HttpReply[] = []

/** Makes one call and gives the parsed reply with its HTTP status. */
async function call(access: Access, method: string, params: unknown = []): Promise<any> {
  const reply = await access.post(message(method, params))
  told.push(reply)
  return { status: reply.status, ...JSON.parse(reply.text) }
}

/** A call that may go anywhere and be repeated. */
const ask = (slug: string, of = accesses) => call(of.in(slug), 'web3_sha3', ['0x00'])
const asked = (node: ScriptedNode) => node.count('web3_sha3')
const askAtOnce = (slug: string, count: number, of = accesses) =>
  Array.from({ length: count }, () => ask(slug, of))

/** How many of some replies hold this result. */
function countOf(replies: readonly any[], letter: string): number {
  return replies.filter(({ result }) => result === letter).length
}

async function routeOf(id: string): Promise<RouteStatus> {
  const routes = await routesOf(gateway)
  return routes.find(route => route.id === id)!
}

async function looked(id: string, is: (route: RouteStatus) => boolean): Promise<void> {
  await until(`route ${id} is seen`, async () => is(await routeOf(id)))
}

/** The operator is told why a route is out: by /status, by the metrics and by `explain`, in a sentence. */
async function isOut(t: Test, slug: string, letter: string, method = 'web3_sha3'): Promise<string> {
  const id = `${slug}-${letter}`
  const { healthy, why } = await routeOf(id)
  t.equal(healthy, false, `${id} is not healthy`)
  t.match(why, /^\S+( \S+){2,}$/, 'a sentence says why')
  const labels = { network: slug, route: id }
  t.equal(await metric(gateway, 'tollgate_route_healthy', labels), 0, 'the metric says so too')
  const asked = ['explain', slug, method, '--plan', 'paid', '--config', gateway.dir, '--json']
  const { code, stdout } = await run(asked)
  const explained = JSON.parse(stdout)
  t.equal(explained.live, true)
  const isServed = explained.routes.some((route: any) => route.able === true)
  t.match(
    { code, ...explained },
    isServed ? { code: 0, outcome: 'forward' } : { code: 1, outcome: 'refuse', reason: 'no_route' },
  )
  t.strictSame(
    explained.routes.find((route: any) => route.id === id),
    { id, able: false, why },
    'explain gives the same reason',
  )
  tellsNothing(t, JSON.stringify(explained), 'explain', ports)
  return why ?? ''
}

const ports = nodes.map(({ port }) => port)
await routesLookedAt(gateway, ['out-a'])
await looked('out-a', ({ healthy }) => !healthy)

const breakerBegan = Date.now()
const breakerGate = new Gate()
/** What is seen of the route whose breaker is open; other tests run meanwhile. */
let recovery: ReturnType<typeof untilRecovered>

/** Goes on calling until one call reaches the failed route, holds it there while others are made, and lets it succeed. */
async function untilRecovered() {
  const before = asked(breakerA)
  const probes = breakerA.count('eth_blockNumber')
  breakerA.otherwise(held(breakerGate, answered('a')))
  breakerA.on('eth_blockNumber', result(`"0x${breakerA.head.toString(16)}"`))
  const calls: Promise<any>[] = []
  await until('a call goes to the route', async () => {
    calls.push(ask('breaker'))
    await Promise.race([calls.at(-1), breakerA.arrived('web3_sha3', before + 1)])
    return asked(breakerA) > before
  })
  const early = breakerA.count('eth_blockNumber') === probes && Date.now() - breakerBegan < 5_000
  const meanwhile = await Promise.all(askAtOnce('breaker', 10))
  const tries = asked(breakerA) - before
  breakerGate.open()
  return { early, meanwhile, tries, calls: await Promise.all(calls), next: await ask('breaker') }
}

t.test('a route that fails again and again is left alone', async t => {
  breakerA.otherwise(plain(500)).on('eth_blockNumber', plain(500))
  for (let i = 0; i < 20; i++) t.equal((await ask('breaker', i % 2 === 0 ? accesses : others)).result, 'b')
  const tries = asked(breakerA)
  t.ok(tries >= 1 && tries < 10, `asked before the breaker opened: ${tries}`)
  for (let i = 0; i < 20; i++) t.equal((await ask('breaker')).result, 'b')
  t.equal(asked(breakerA), tries, 'no more since')
  await isOut(t, 'breaker', 'a')
  const { lastError } = await routeOf('breaker-a')
  t.type(lastError, 'string')
  t.match(await routeOf('breaker-b'), { healthy: true, why: undefined, lastError: undefined, lag: 0 })
  const a = { network: 'breaker', route: 'breaker-a' }
  const b = { network: 'breaker', route: 'breaker-b' }
  t.equal(await metric(gateway, 'tollgate_attempts_total', a), tries)
  t.equal(await metric(gateway, 'tollgate_attempts_total', { ...a, result: 'ok' }), 0)
  t.equal(await metric(gateway, 'tollgate_attempts_total', { ...b, result: 'ok' }), asked(breakerB))
  t.equal(await metric(gateway, 'tollgate_attempts_total', b), 40)
  t.equal(await metric(gateway, 'tollgate_route_healthy', b), 1)
  t.equal(await metric(gateway, 'tollgate_route_head', b), breakerB.head)
  t.equal(await metric(gateway, 'tollgate_attempt_duration_seconds_count', b), 40)
  recovery = untilRecovered()
})

t.test('a route that fails more often than not is left alone, though some calls succeed', async t => {
  let count = 0
  shakyA.otherwise((request, response) => (++count % 3 === 0 ? answered('a') : plain(502))(request, response))
  for (let i = 0; i < 45; i++) t.match((await ask('shaky')).result, /^[ab]$/)
  const tries = asked(shakyA)
  t.ok(tries < 45, `asked before the breaker opened: ${tries}`)
  for (let i = 0; i < 10; i++) t.equal((await ask('shaky')).result, 'b')
  t.equal(asked(shakyA), tries)
  t.equal(asked(shakyB), 55 - Math.floor(tries / 3))
})

t.test('the last route is never shut out', async t => {
  lastA!.otherwise(plain(503))
  for (let i = 0; i < 6; i++)
    t.match(await ask('last'), { status: 502, error: { data: { reason: 'upstream_error' } } })
  t.equal(asked(lastA!), 12, 'each call was sent, and once more: there is no other route')
  lastA!.otherwise(answered('a'))
  t.equal((await ask('last')).result, 'a')
  t.match(await routeOf('last-a'), { healthy: true, lastError: undefined })
})

t.test('a route that leaves calls unanswered is left alone before any of them times out', async t => {
  for (let i = 0; i < 40; i++) t.equal((await ask('silent')).result, 'a')
  const gate = new Gate()
  silentA.otherwise(held(gate, answered('a')))
  const waiting = [...askAtOnce('silent', 3), ...askAtOnce('silent', 2, others)]
  await silentA.arrived('web3_sha3', 45)
  const labels = { network: 'silent', route: 'silent-a' }
  t.equal(await metric(gateway, 'tollgate_route_in_flight', labels), 5)
  t.equal((await routeOf('silent-a')).inFlight, 5)
  await looked('silent-a', ({ healthy }) => !healthy)
  t.equal((await ask('silent')).result, 'b')
  t.equal(asked(silentB), 1)
  gate.open()
  for (const { result } of await Promise.all(waiting)) t.equal(result, 'a', 'late answers count')
  await looked('silent-a', ({ healthy, inFlight }) => healthy && inFlight === 0)
  t.equal((await ask('silent')).result, 'a')
})

t.test('Retry-After of an upstream is honoured', async t => {
  const began = Date.now()
  pauseA.otherwise((request, response) => {
    const handler = asked(pauseA) === 1 ? plain(429, { 'retry-after': '2' }) : answered('a')
    return handler(request, response)
  })
  t.equal((await ask('pause')).result, 'b')
  await until('the route is asked again', async () => {
    const { result } = await ask('pause')
    t.match(result, /^[ab]$/)
    return result === 'a'
  })
  t.ok(Date.now() - began >= 2_000, 'not before it was time')
  t.equal(asked(pauseA), 2)
  t.ok(asked(pauseB) > 1)
})

t.test('a pause is kept to when no other route is there', async t => {
  pauseAllA!.otherwise(fault(429, 'node-secret', 429, { 'retry-after': '30' }))
  for (let i = 0; i < 3; i++) {
    const { status, error } = await ask('pause-all')
    t.match(error.data.reason, /^(no_route|overloaded)$/)
    t.equal(status, 503)
  }
  t.equal(asked(pauseAllA!), 1)
  t.match(await routeOf('pause-all-a'), { healthy: true, keptAwayCallers: 1 }, 'for whose call it was')
  pauseAllA!.on('eth_blockNumber', fault(429, 'node-secret', 429, { 'retry-after': '30' }))
  t.match((await ask('pause-all', others)).error.data.reason, /^(no_route|overloaded)$/)
  await looked('pause-all-a', ({ healthy }) => !healthy)
  await isOut(t, 'pause-all', 'a')
})

t.test('a route that is full counts as not able', async t => {
  const gate = new Gate()
  roomA.otherwise(held(gate, answered('a')))
  roomB.otherwise(held(gate, answered('b')))
  const calls = askAtOnce('room', 6)
  await until('all have been sent', () => Promise.resolve(asked(roomA) + asked(roomB) === 6))
  t.ok(asked(roomA) >= 1, 'the first route is used')
  gate.open()
  const results = await Promise.all(calls)
  t.equal(countOf(results, 'a'), asked(roomA))
  t.equal(countOf(results, 'b'), asked(roomB))
  t.ok(roomA.peak <= 2, `at most two at a time: ${roomA.peak}`)
})

t.test('when every route is full a call waits a while for room', async t => {
  const gate = new Gate()
  roomAllA!.otherwise(held(gate, answered('a')))
  const first = ask('room-all')
  await roomAllA!.arrived('web3_sha3')
  const began = Date.now()
  const second = ask('room-all')
  const tooLate = ask('room-all')
  // Of two that wait, the one that room is made for is served.
  gate.releaseOne()
  t.equal((await first).result, 'a')
  await roomAllA!.arrived('web3_sha3', 2)
  const late = await Promise.race([second, tooLate])
  t.match(late, { status: 503, error: { code: -32603, data: { reason: 'overloaded' } } })
  t.ok(Date.now() - began >= 900, 'after its second')
  gate.open()
  const both = await Promise.all([second, tooLate])
  t.equal(countOf(both, 'a'), 1)
  t.equal(asked(roomAllA!), 2)
  t.equal(roomAllA!.peak, 1)
})

t.test('one call sees whether a route is well again', async t => {
  const { early, meanwhile, tries, calls, next } = await recovery
  t.notOk(early, 'not before a probe was answered or its pause is over')
  t.equal(countOf(meanwhile, 'b'), 10, 'the others go elsewhere')
  t.equal(tries, 1, 'one is enough')
  t.equal(countOf(calls, 'a'), 1)
  t.equal(countOf(calls, 'b'), calls.length - 1)
  t.equal(next.result, 'a')
  t.match(await routeOf('breaker-a'), { healthy: true, why: undefined, lastError: undefined })
  t.equal(await metric(gateway, 'tollgate_route_healthy', { network: 'breaker', route: 'breaker-a' }), 1)
})

t.test('a route gets no more calls a second than the operator lets it', async t => {
  const began = Date.now()
  const results = await Promise.all(askAtOnce('pace', 30))
  const seconds = (Date.now() - began) / 1000
  t.equal(asked(paceA) + asked(paceB), 30)
  t.equal(countOf(results, 'a'), asked(paceA))
  t.ok(asked(paceA) >= 1 && asked(paceA) <= 5 + 5 * seconds, `sent to the limited route: ${asked(paceA)}`)
  const beganAll = Date.now()
  const replies = await Promise.all(askAtOnce('pace-all', 12))
  const secondsAll = (Date.now() - beganAll) / 1000
  const served = countOf(replies, 'a')
  t.ok(served >= 1 && served <= 2 + 2 * secondsAll, `served: ${served}`)
  t.equal(asked(paceAllA!), served)
  for (const reply of replies.filter(({ result }) => result !== 'a'))
    t.match(reply, { status: 503, error: { code: -32603, data: { reason: 'overloaded' } } })
})

t.test('filters live on the node that made them, under ids of the gateway', async t => {
  const access = accesses.in('filters')
  const another = await access.another('filters')
  const open = new Access(gateway, 'filters', 'public')
  const both: [node: ScriptedNode, letter: string][] = [
    [filtersA, 'a'],
    [filtersB, 'b'],
  ]
  for (const [node, letter] of both) {
    node.on('eth_newBlockFilter', result('"0x1"')).on('eth_newFilter', result('"0x2"'))
    node
      .on('eth_getFilterChanges', result(`["0x${letter}"]`))
      .on('eth_getFilterLogs', result(`["0x${letter}1"]`))
    node.on('eth_uninstallFilter', result('true'))
  }
  const made = new Map<ScriptedNode, string[]>(both.map(([node]) => [node, []]))
  const sumOf = (node: ScriptedNode) => node.count('eth_newBlockFilter') + node.count('eth_newFilter')
  for (let i = 0; i < 200 && [...made.values()].some(ids => ids.length < 3); i++) {
    const before = sumOf(filtersA)
    const method = i % 2 === 0 ? 'eth_newBlockFilter' : 'eth_newFilter'
    const { result } = await call(access, method, i % 2 === 0 ? [] : [{ fromBlock: 'latest' }])
    made.get(sumOf(filtersA) > before ? filtersA : filtersB)!.push(result)
  }
  const ids = [...made.values()].flat()
  t.equal(new Set(ids).size, ids.length, 'no id twice')
  for (const id of ids) t.match(id, /^0x[0-9a-f]{16,}$/, 'a random id')
  for (const [node, letter] of both) {
    t.ok(made.get(node)!.length >= 3, 'both routes are used')
    for (const id of made.get(node)!) {
      t.strictSame((await call(access, 'eth_getFilterChanges', [id])).result, [`0x${letter}`])
      t.strictSame((await call(access, 'eth_getFilterLogs', [id])).result, [`0x${letter}1`])
    }
    for (const { params } of node.calls.filter(({ method }) => method === 'eth_getFilterChanges'))
      t.match(params, /^\["0x[12]"\]$/, 'the node is asked by its own id')
  }
  const notFound = { code: -32000, message: 'filter not found' }
  const id = made.get(filtersA)![0]!
  const sent = () => filtersA.calls.length + filtersB.calls.length
  const before = sent()
  for (const [who, foreign] of [
    ['another endpoint', another],
    ['another account', stranger],
    ['the public route', open],
  ] as const) {
    t.strictSame((await call(foreign, 'eth_getFilterChanges', [id])).error, notFound, who)
    t.strictSame((await call(foreign, 'eth_getFilterLogs', [id])).error, notFound, who)
    t.strictSame((await call(foreign, 'eth_uninstallFilter', [id])).result, false, who)
  }
  for (const unknown of ['0x1', '0x2', `0x${'ab'.repeat(16)}`]) {
    t.strictSame((await call(access, 'eth_getFilterChanges', [unknown])).error, notFound, unknown)
    t.strictSame((await call(access, 'eth_uninstallFilter', [unknown])).result, false, unknown)
  }
  t.equal(sent(), before, 'nothing of that reached a node')
  t.strictSame((await call(access, 'eth_getFilterChanges', [id])).result, ['0xa'], 'it is still there')
  t.equal((await call(access, 'eth_uninstallFilter', [id])).result, true)
  t.equal(filtersA.count('eth_uninstallFilter'), 1)
  // What is over at the node is over: the node says so.
  filtersA.on('eth_uninstallFilter', result('false')).on('eth_getFilterChanges', error(rawJson(notFound)))
  t.strictSame((await call(access, 'eth_getFilterChanges', [id])).error, notFound)
  t.equal((await call(access, 'eth_uninstallFilter', [id])).result, false)
  t.equal(filtersA.count('eth_uninstallFilter'), 2)
  const elsewhere = filtersB.count('eth_getFilterChanges')
  await filtersA.close()
  const lost = await call(access, 'eth_getFilterChanges', [made.get(filtersA)![1]])
  t.ok(lost.error !== undefined && lost.error.data?.reason !== undefined, JSON.stringify(lost))
  t.equal(filtersB.count('eth_getFilterChanges'), elsewhere, 'no other node is asked for it')
})

t.test('heads never go back for one endpoint', async t => {
  const access = accesses.in('heads')
  const shown: number[] = []
  for (let i = 0; i < 200 && (shown.length < 60 || !shown.includes(top)); i++) {
    const { result } =
      i % 3 === 0
        ? await call(access, 'eth_getBlockByNumber', ['latest', false])
        : await call(access, 'eth_blockNumber')
    shown.push(Number(result.number ?? result))
  }
  const wentBack = shown.filter((head, i) => head < Math.max(...shown.slice(0, i)))
  t.same(wentBack, [], 'no head is lower than one shown before')
  t.ok(shown.includes(top))
  for (let i = 0; i < 20; i++)
    t.equal((await call(access, 'eth_getBalance', [`0x${'ab'.repeat(20)}`])).result, 'a')
  t.equal(headsB.count('eth_getBalance'), 0, 'reads of the newest state go where it is')
  headsA.head = top + 5
  for (let i = 0; i < 3; i++) t.equal(Number((await call(access, 'eth_blockNumber')).result), top + 5)
  await headsA.close()
  const { result } = await call(access, 'eth_blockNumber')
  t.equal(Number(result), top - 2, 'the floor yields when no healthy route reports it')
})

t.test('null from a route that is behind is asked of another', async t => {
  const access = accesses.in('behind')
  const hash = `0x${'12'.repeat(32)}`
  const lookups: [method: string, params: unknown[]][] = [
    ['eth_getTransactionReceipt', [hash]],
    ['eth_getTransactionByHash', [hash]],
    ['eth_getBlockByHash', [hash, false]],
  ]
  for (const [method, params] of lookups) {
    behindA.on(method, result('null'))
    behindB.on(method, result('{"there":true}'))
    t.strictSame((await call(access, method, params)).result, { there: true }, method)
    t.strictSame([behindA.count(method), behindB.count(method)], [1, 1])
    behindB.on(method, result('null'))
    t.equal((await call(access, method, params)).result, null, 'nobody has it')
    t.strictSame([behindA.count(method), behindB.count(method)], [2, 2])
  }
  t.same((await accesses.usage()).get('behind'), { requests: 6, calls: 6 })
  behindA.on('eth_getBlockByNumber', result('null'))
  const newest = `0x${top.toString(16)}`
  t.equal((await call(access, 'eth_getBlockByNumber', [newest, false])).result.number, newest)
})

/** What nodes say of state that they do not keep. */
const missing: readonly (readonly [code: number, text: string])[] = [
  [-32000, 'missing trie node 4d3c (path ) state 0x4d3c is not available'],
  [-32000, 'header not found'],
  [-32000, 'required historical state unavailable (reexec=128)'],
  [-32000, 'historical state 4d3c is not available'],
  [-32002, 'state has been pruned'],
  [-32000, 'Block #4096 not found'],
  [-32000, 'Unknown block'],
  [-32000, 'State at block #4096 is pruned'],
  [-32603, 'distance to target block exceeds maximum proof window'],
  [-32001, 'old data not available due to pruning'],
  [-32000, 'No state available for block 0x4d3c'],
  [-32000, 'World state unavailable'],
  [4444, 'pruned history unavailable'],
  [-32000, 'cannot query unfinalized data'],
  [-32000, 'requested height 4096 is after last accepted block 4095'],
]

t.test('a hash of unknown age goes to an archive when its state is missing', async t => {
  const access = accesses.in('ages')
  const params = [`0x${'ab'.repeat(20)}`, { blockHash: `0x${'12'.repeat(32)}` }]
  for (const [index, [code, text]] of missing.entries()) {
    // Every one of these is asked twice: calls that are not make room for that in the budget of retries.
    for (let i = 0; i < 5; i++) await ask('ages')
    agesA!.on('eth_getBalance', fault(code, text))
    t.equal((await call(access, 'eth_getBalance', params)).result, 'c', text)
    t.equal(agesA!.count('eth_getBalance'), index + 1)
    t.equal(agesC!.count('eth_getBalance'), index + 1)
  }
  t.equal(agesB!.count('eth_getBalance'), 0, 'a route that keeps no more is not asked')
  agesB!.on('eth_getBalance', fault(-32000, 'missing trie node'))
  agesC!.on('eth_getBalance', fault(-32000, 'missing trie node'))
  const { error } = await call(access, 'eth_getBalance', params)
  t.match(error, { code: -32000, message: /missing trie node|after last accepted block/ }, 'nobody has it')
  t.match(await routeOf('ages-a'), { healthy: true }, 'that speaks against no route')
  const charged = 6 * missing.length + 1
  t.same((await accesses.usage()).get('ages'), { requests: charged, calls: charged })
})

t.test('the operator is told why a route is out', async t => {
  t.match(await isOut(t, 'out', 'a'), /1002/, 'another chain')
  t.match(await isOut(t, 'out', 'b'), /sync/i)
  t.match(await isOut(t, 'out', 'd'), /sync/i)
  const log = gateway.printed.split('\n').filter(line => line.includes('"out-a"'))
  t.ok(
    log.some(line => ['warn', 'error', 'fatal'].includes(JSON.parse(line).level) && line.includes('1002')),
    'the log is loud about a wrong chain',
  )
  t.equal((await ask('out')).result, 'c')
  t.same([outA!, outB!, outC!, outD!].map(asked), [0, 0, 1, 0])
  const { head, lag, latencyMs, inFlight, healthy } = await routeOf('out-c')
  t.strictSame({ head, lag, inFlight, healthy }, { head: outC!.head, lag: 0, inFlight: 0, healthy: true })
  t.type(latencyMs, 'number')
  t.equal((await gateway.status()).networks.find(({ slug }: any) => slug === 'out').head, outC!.head)
})

t.test('a route that is far behind serves no reads of the newest block', async t => {
  const access = accesses.in('far')
  const address = `0x${'ab'.repeat(20)}`
  for (let i = 0; i < 5; i++) {
    t.equal((await call(access, 'eth_getBalance', [address, 'latest'])).result, 'b')
    t.equal(Number((await call(access, 'eth_blockNumber')).result), top)
  }
  t.equal(farA.count('eth_getBalance'), 0)
  t.equal(farB.count('eth_getBalance'), 5)
  t.match(await routeOf('far-a'), { healthy: false, lag: 1000, head: top - 1000 })
  t.match(await isOut(t, 'far', 'a', 'eth_getBalance'), /1000/)
  const labels = { network: 'far', route: 'far-a' }
  t.equal(await metric(gateway, 'tollgate_route_lag_blocks', labels), 1000)
  t.equal(await metric(gateway, 'tollgate_route_head', labels), top - 1000)
  const old = `0x${(top - 1050).toString(16)}`
  t.equal((await call(access, 'eth_getTransactionByBlockNumberAndIndex', [old, '0x0'])).result, 'a')
})

t.test('nothing that was told names an upstream, or the trouble of the operator with it', async t => {
  const whole = told.map(({ headers, text }) => JSON.stringify(headers) + text).join('\n')
  tellsNothing(t, whole, 'the replies', ports)
  const limits = [401, 403, 429, -32005, -32007]
  const passedOn = told.filter(
    ({ status, text }) => limits.includes(status) || limits.includes(JSON.parse(text).error?.code),
  )
  t.same(passedOn, [])
  tellsNothing(t, JSON.stringify(await gateway.status()), '/status', ports)
  tellsNothing(t, (await get(`${gateway.adminUrl}/metrics`)).text, '/metrics', ports)
  tellsNothing(t, gateway.printed, 'the log', ports)
})

t.test('a node at the head that reports that it is syncing serves calls', async t => {
  await Promise.all([indexing, plainTrue, nitro].map(node => node!.arrived('eth_syncing', 2)))
  t.equal((await ask('at-head')).result, 'a')
  for (const letter of ['a', 'b', 'c'])
    t.match(await routeOf(`at-head-${letter}`), { healthy: true }, `at-head-${letter}`)
})
