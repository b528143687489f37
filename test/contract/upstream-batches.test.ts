/** Calls of one client's batch that go to a route in one body (`batch` of routes.yaml). */
import { once } from 'node:events'
import t, { type Test } from 'tap'
import { message, type Access } from '../support/access.ts'
import { createAccess } from '../support/accounts.ts'
import { answerBodies, bodiesAt, callsIn, takeBodies } from '../support/batching-node.ts'
import { Gate } from '../support/gate.ts'
import { startGateway } from '../support/gateway.ts'
import { metric, metricIs } from '../support/metrics.ts'
import { echo, error, hang, held, html, reply, resetMidBody, result } from '../support/node-replies.ts'
import type { Handler } from '../support/node-replies.ts'
import { rawItems } from '../support/raw-json.ts'
import { routesOf } from '../support/route-status.ts'
import { startNode } from '../support/scripted-node.ts'
import type { ScriptedNode } from '../support/scripted-node.ts'
import { openClient } from '../support/socket-client.ts'
import { openSocket } from '../support/tcp.ts'
import { until } from '../support/until.ts'

const chainId = 1001

/** Each with a network, a route and a node of its own: what a route has learned is its own too. */
const slugs = [
  'well',
  'alone',
  'apart',
  'away',
  'limits',
  'socket',
  'killed',
  'long',
  'broken',
  'object',
  'busy',
  'length',
  'status',
  'forbidden',
  'fault',
  'page',
  'geth',
  'spoken',
  'drops',
  'doubles',
  'others',
  'texts',
  'cut',
  'unnamed',
  'limited',
  'slow',
  'hedged',
  'full',
] as const
type Slug = (typeof slugs)[number]

const nodes = Object.fromEntries(
  await Promise.all(slugs.map(async slug => [slug, await startNode(t, { chainId })] as const)),
) as Record<Slug, ScriptedNode>
/** Second routes of networks where the first does not answer. */
const second = await startNode(t, { chainId })
for (const node of [...Object.values(nodes), second]) {
  node.on('eth_getBalance', echo).on('eth_getCode', echo).on('web3_sha3', echo)
  takeBodies(node)
}

const extras: Readonly<Partial<Record<Slug, Readonly<Record<string, unknown>>>>> = {
  limits: { limits: { inFlight: 5 } },
  socket: { ws: nodes.socket.url.replace('http', 'ws') },
  slow: { timeout: '300ms' },
  alone: { batch: 1 },
}
const gateway = await startGateway(t, {
  networks: Object.fromEntries(
    slugs.map(slug => [slug, { chainId, hedge: slug === 'hedged', public: true }]),
  ),
  routes: [
    ...slugs.map(slug => ({
      id: slug,
      network: slug,
      http: nodes[slug].url,
      batch: 20,
      capabilities: ['debug', 'archive'],
      ...extras[slug],
    })),
    ...(['limited', 'slow', 'busy'] as const).map(slug => ({
      id: `${slug}-b`,
      network: slug,
      http: second.url,
      priority: 2,
      capabilities: ['archive'],
    })),
  ],
})
for (const slug of slugs) await gateway.headKnown(slug)

/** So few calls begin in one turn of the event loop, however slow the machine is, and so go in one body. */
const FEW = 8

let used = 0
/** Calls that are equal to no other. */
const calls = (count: number, method = 'eth_getBalance') =>
  Array.from({ length: count }, (_, id) => message(method, [`0x${(used += 1).toString(16)}`, '0x5'], id))
const paramsOf = (call: string): string => JSON.stringify((JSON.parse(call) as { params: unknown }).params)
const answersTo = (asked: readonly string[]): string[] =>
  asked.map((call, id) => `{"jsonrpc":"2.0","id":${id},"result":${paramsOf(call)}}`)
const routeOf = async (id: string) => (await routesOf(gateway)).find(route => route.id === id)!

/** Sends a batch, and returns the items of its reply; each is charged once. */
async function send(t: Test, slug: Slug, asked: readonly string[], by?: Access): Promise<string[]> {
  const access = by ?? (await createAccess(gateway, 'paid', slug))
  const before = await access.usage()
  const { status, text } = await access.post(`[${asked.join(',')}]`)
  t.equal(status, 200)
  const { requests, calls } = await access.usage()
  t.strictSame([requests - before.requests, calls - before.calls], [asked.length, asked.length])
  return rawItems(text)
}

/** Bodies of several calls of clients, and of probes. */
const clientsBodiesAt = (node: ScriptedNode) =>
  bodiesAt(node).filter(({ text }) => text.includes('eth_getBalance'))
const probesAt = (node: ScriptedNode) => bodiesAt(node).filter(({ text }) => text.includes('eth_blockNumber'))

t.test('a batch goes in bodies of at most so many calls, whose ids are ours', async t => {
  const asked = calls(100)
  t.strictSame(await send(t, 'well', asked), answersTo(asked))
  const bodies = bodiesAt(nodes.well).map(callsIn)
  const places = new Map(asked.map((call, place) => [paramsOf(call), place]))
  const sent = bodies.map(body => body.map(({ params }) => places.get(params)!))
  t.strictSame(
    sent.toSorted(([a], [b]) => a! - b!).flat(),
    [...asked.keys()],
    'each call is sent once, in its order; bodies of two connections may overtake each other',
  )
  t.ok(bodies.length < 25, `${bodies.length} bodies`)
  for (const body of bodies) {
    t.ok(body.length > 1 && body.length <= 20, `${body.length} calls`)
    t.equal(new Set(body.map(({ id }) => id)).size, body.length, 'no two have the same id')
    for (const { text, id } of body) t.match(text, new RegExp(`^{"jsonrpc":"2.0","id":${id},"method":`))
  }
  t.equal(nodes.well.calls.length, bodies.length, 'nothing went by itself')
  t.equal(await metric(gateway, 'tollgate_attempts_total', { route: 'well', result: 'ok' }), 100)
  t.equal((await routeOf('well')).inFlight, 0)
})

t.test('answers are told apart by their ids, whatever order they come in', async t => {
  takeBodies(nodes.well, answers => ` [\n${answers.toReversed().join(' ,\t')} ]\n`)
  const asked = calls(20)
  t.strictSame(await send(t, 'well', asked), answersTo(asked))
  takeBodies(nodes.well)
  t.equal((await routeOf('well')).refusesBatches, undefined)
})

t.test("a node's errors about single calls are their answers", async t => {
  nodes.well.on('eth_getCode', error('{"code":3,"message":"execution reverted","data":"0x"}'))
  const asked = [...calls(2), ...calls(1, 'eth_getCode'), ...calls(1)]
  const items = await send(t, 'well', asked)
  t.match(items[2], '{"jsonrpc":"2.0","id":0,"error":{"code":3,"message":"execution reverted","data":"0x"}}')
  t.equal(items.length, 4)
  nodes.well.on('eth_getCode', echo)
})

t.test('what is alone goes as it always did', async t => {
  const before = bodiesAt(nodes.well).length
  await send(t, 'well', calls(1))
  const access = await createAccess(gateway, 'paid', 'well')
  await access.post(calls(1)[0]!)
  t.equal(bodiesAt(nodes.well).length, before)
})

t.test('a route that does not say so is never sent several calls in one body', async t => {
  const asked = calls(30)
  t.strictSame(await send(t, 'alone', asked), answersTo(asked))
  t.equal(nodes.alone.calls.length, 30)
  t.equal(bodiesAt(nodes.alone).length, 0)
})

t.test('what is slow, tied to a route or not safe to repeat goes by itself', async t => {
  const node = nodes.apart
  node.on('debug_traceTransaction', echo).on('eth_sendRawTransaction', result(`"0x${'1'.repeat(64)}"`))
  node.on('eth_newBlockFilter', result('"0x1"'))
  const hash = `0x${'2'.repeat(64)}`
  const asked = [
    ...[1, 2].map(id =>
      message('debug_traceTransaction', [hash, { tracer: 'callTracer', timeout: `${id}s` }], id),
    ),
    ...['0x01', '0x02'].map(raw => message('eth_sendRawTransaction', [raw], raw)),
    ...[5, 6].map(id => message('eth_newBlockFilter', [], id)),
    ...calls(2),
  ]
  const access = await createAccess(gateway, 'paid', 'apart')
  const { text } = await access.post(`[${asked.join(',')}]`)
  t.equal(rawItems(text).length, 8)
  const bodies = bodiesAt(node).map(callsIn)
  t.strictSame(
    bodies.map(body => body.map(({ method }) => method)),
    [['eth_getBalance', 'eth_getBalance']],
  )
  t.equal(node.calls.length, 7)
})

t.test('what may be sent to a second route when it is slow goes by itself', async t => {
  const asked = calls(4)
  t.strictSame(await send(t, 'hedged', asked), answersTo(asked))
  t.equal(bodiesAt(nodes.hedged).length, 0)
})

t.test('calls with another time to be answered in are not held up by each other', async t => {
  const before = bodiesAt(nodes.well).length
  const logs = [1, 2].map(id => message('eth_getLogs', [{ fromBlock: '0x1', toBlock: `0x${id}` }], id))
  nodes.well.on('eth_getLogs', result('[]'))
  const access = await createAccess(gateway, 'paid', 'well')
  await access.post(`[${[...calls(2), ...logs].join(',')}]`)
  t.strictSame(
    bodiesAt(nodes.well)
      .slice(before)
      .map(body => callsIn(body).map(({ method }) => method)),
    [
      ['eth_getBalance', 'eth_getBalance'],
      ['eth_getLogs', 'eth_getLogs'],
    ],
  )
})

t.test('calls of two clients never meet in one body', async t => {
  const before = bodiesAt(nodes.well).length
  const accesses = await Promise.all([1, 2, 3].map(() => createAccess(gateway, 'paid', 'well')))
  const posts = accesses.flatMap((access, who) =>
    Array.from({ length: 10 }, (_, n) => {
      const marked = Array.from({ length: 7 }, (_, i) => message('web3_sha3', [`0x0${who}${n}0${i}`], i))
      return access.post(`[${marked.join(',')}]`)
    }),
  )
  await Promise.all(posts)
  const bodies = bodiesAt(nodes.well).slice(before).map(callsIn)
  t.ok(bodies.length >= 30)
  for (const body of bodies) {
    const owners = new Set(body.map(({ params }) => params.slice(0, 7)))
    t.equal(owners.size, 1, [...owners].join())
  }
})

t.test("each call counts in the route's limits", async t => {
  const asked = calls(40)
  t.strictSame(await send(t, 'limits', asked), answersTo(asked))
  const bodies = bodiesAt(nodes.limits).map(body => callsIn(body).length)
  t.equal(Math.max(...bodies), 5, `bodies of ${bodies.join()}`)
  t.equal((await routeOf('limits')).inFlight, 0)
})

t.test('calls of a frame go together too', async t => {
  const access = await createAccess(gateway, 'paid', 'socket')
  const client = await openClient(t, access)
  const asked = calls(FEW)
  t.strictSame(rawItems(await client.exchange(`[${asked.join(',')}]`)), answersTo(asked))
  t.strictSame(
    bodiesAt(nodes.socket).map(body => callsIn(body).length),
    [FEW],
  )
})

type Shape = (answers: readonly string[]) => string
const handled = (handler: Handler) => (node: ScriptedNode) => {
  answerBodies(node, handler)
}
const shaped = (shape: Shape) => (node: ScriptedNode) => {
  takeBodies(node, shape)
}
/** The answers under other ids, and with the first one changed. */
const named = (answers: readonly string[], id: string) =>
  answers.map(each => each.replace(/"id":(\d+)/, `"id":${id}`))
const ODD = 'replies that are missing, doubled or to other ids'

/** Bodies that an upstream does not take, and what /status says of it then. */
const refusals: readonly (readonly [Slug, (node: ScriptedNode) => void, string])[] = [
  ['object', handled(error('{"code":-32600,"message":"no batches"}')), 'one reply in place of several'],
  [
    'spoken',
    handled(error('{"code":-32005,"message":"batch limit exceeded"}')),
    'one reply in place of several',
  ],
  ['length', handled(reply(413, '')), 'HTTP 413'],
  ['status', handled(reply(400, '{"error":"a body is one object"}')), 'HTTP 400'],
  ['forbidden', handled(reply(403, '{"error":"not in your plan"}')), 'HTTP 403'],
  ['fault', handled(reply(500, '{"message":"batch of more than 3 requests"}')), 'HTTP 500'],
  ['page', handled(html), 'no array of replies'],
  ['drops', shaped(answers => `[${answers.toSpliced(2, 1).join(',')}]`), ODD],
  ['doubles', shaped(answers => `[${[...answers, answers[1]].join(',')}]`), ODD],
  ['others', shaped(answers => `[${named(answers, '7000000').join(',')}]`), ODD],
  ['texts', shaped(answers => `[${named(answers, '"$1"').join(',')}]`), ODD],
  ['unnamed', shaped(([first = '', ...more]) => `[${[...named([first], 'null'), ...more].join(',')}]`), ODD],
  ['cut', shaped(answers => `[${answers.join(',').slice(0, -20)}`), ODD],
  [
    'geth',
    shaped(
      ([first = '']) =>
        `[${first.replace(/"result".*/, '"error":{"code":-32600,"message":"batch too large"}}')}]`,
    ),
    ODD,
  ],
]

for (const [slug, how, why] of refusals) {
  t.test(`the calls go by themselves where an upstream takes bodies like this: ${slug}`, async t => {
    const node = nodes[slug]
    how(node)
    const asked = calls(5)
    t.strictSame(await send(t, slug, asked), answersTo(asked))
    t.equal(clientsBodiesAt(node).length, 1)
    await until('a body of probes was taken no better', async () => 'refusesBatches' in (await routeOf(slug)))
    t.match(await routeOf(slug), { batch: 20, refusesBatches: why, healthy: true })
    t.strictSame(
      probesAt(node).map(body => callsIn(body).length),
      [3],
    )
    const again = calls(5)
    t.strictSame(await send(t, slug, again), answersTo(again))
    t.equal(clientsBodiesAt(node).length, 1, 'it is not sent another one')
    t.equal(await metric(gateway, 'tollgate_refusals_total', { network: slug }), 0)
  })
}

t.test('what other calls were answered is not asked again', t => {
  const singles = nodes.drops.calls.filter(({ text }) => !text.startsWith('['))
  t.equal(singles.length, 1 + 5, 'the one that was dropped, and the batch behind it')
  t.end()
})

t.test('a body that breaks off sends its calls to be made one by one, and is not remembered', async t => {
  answerBodies(nodes.broken, resetMidBody)
  const asked = calls(FEW)
  t.strictSame(await send(t, 'broken', asked), answersTo(asked))
  t.match(await routeOf('broken'), { refusesBatches: undefined, healthy: true })
  takeBodies(nodes.broken)
  const again = calls(FEW)
  t.strictSame(await send(t, 'broken', again), answersTo(again))
  t.equal(bodiesAt(nodes.broken).length, 2)
  t.equal(await metric(gateway, 'tollgate_attempts_total', { route: 'broken', result: 'reset' }), FEW)
})

t.test(
  'a reply that is too long to hold sends its calls to be made one by one; the next bodies are shorter',
  async t => {
    nodes.long.on('eth_getBalance', ({ id, params }, response) =>
      result(`{"of":${params},"more":"${'a'.repeat(200_000)}"}`)({ id, params } as any, response),
    )
    const lengths = (items: string[]) => items.map(item => item.length > 200_000)
    const access = await createAccess(gateway, 'paid', 'long')
    t.strictSame(lengths(await send(t, 'long', calls(FEW), access)), Array(FEW).fill(true))
    t.strictSame(
      bodiesAt(nodes.long).map(body => callsIn(body).length),
      [FEW],
    )
    t.strictSame(lengths(await send(t, 'long', calls(FEW), access)), Array(FEW).fill(true))
    const [, ...later] = bodiesAt(nodes.long).map(body => callsIn(body).length)
    t.ok(later.length > 0 && Math.max(...later) <= FEW / 2, later.join())
    t.equal((await routeOf('long')).refusesBatches, undefined)
  },
)

t.test('HTTP 429 for a body is one complaint, and its calls go to another route', async t => {
  answerBodies(nodes.limited, reply(429, 'slow down'))
  const asked = calls(FEW)
  t.strictSame(await send(t, 'limited', asked), answersTo(asked))
  t.match(await routeOf('limited'), { healthy: true, keptAwayCallers: 1, refusesBatches: undefined })
  t.equal(await metric(gateway, 'tollgate_attempts_total', { route: 'limited', result: 'limited' }), FEW)
})

t.test('an error in place of the array that says that the route is busy pauses it', async t => {
  const busy = '{"jsonrpc":"2.0","id":null,"error":{"code":-32005,"message":"rate limit exceeded"}}'
  answerBodies(nodes.busy, reply(200, busy))
  const asked = calls(FEW)
  t.strictSame(await send(t, 'busy', asked), answersTo(asked))
  t.match(await routeOf('busy'), { refusesBatches: undefined, keptAwayCallers: 1 })
})

t.test('a body that is not answered in time is one failure, and its calls go to another route', async t => {
  answerBodies(nodes.slow, hang)
  const asked = calls(5)
  t.strictSame(await send(t, 'slow', asked), answersTo(asked))
  const { lastError, keptAwayCallers, healthy } = await routeOf('slow')
  t.strictSame([lastError, keptAwayCallers, healthy], ['timeout', undefined, true])
})

t.test('a client that leaves is charged for what was sent, and disturbs nobody', async t => {
  const node = nodes.away
  const gate = new Gate()
  node.on('eth_getBalance', held(gate, echo))
  const [leaver, stayer] = [
    await createAccess(gateway, 'paid', 'away'),
    await createAccess(gateway, 'paid', 'away'),
  ]
  const body = `[${calls(20).join(',')}]`
  const socket = await openSocket(gateway.port)
  socket.write(
    `POST ${leaver.path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  )
  const asked = calls(20)
  const staying = stayer.post(`[${asked.join(',')}]`)
  await until('all calls are there', () => {
    const count = node.calls.reduce(
      (sum, { text }) => sum + (text.startsWith('[') ? rawItems(text).length : 1),
      0,
    )
    return Promise.resolve(count === 40)
  })
  const closed = once(socket, 'close')
  socket.destroy()
  await closed
  gate.open()
  t.strictSame(rawItems((await staying).text), answersTo(asked))
  await metricIs(gateway, 'tollgate_calls_total', { network: 'away', method: 'eth_getBalance' }, 40)
  t.strictSame(await stayer.usage(), { requests: 20, calls: 20 })
  t.strictSame(await leaver.usage(), { requests: 20, calls: 20 })
  t.equal((await routeOf('away')).inFlight, 0)
})

t.test('what was answered stays charged across kill -9', async t => {
  const access = await createAccess(gateway, 'paid', 'killed')
  const asked = calls(60)
  const { text } = await access.post(`[${asked.join(',')}]`)
  t.strictSame(rawItems(text), answersTo(asked))
  await gateway.kill9()
  await gateway.start()
  t.strictSame(await access.usage(), { requests: 60, calls: 60 })
})
