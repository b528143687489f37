/** What a collector sees of calls: their spans, and nothing that is their client's or their upstream's alone. */
import t from 'tap'
import type { Test } from 'tap'
import { message } from '../support/access.ts'
import type { Access } from '../support/access.ts'
import { createAccess } from '../support/accounts.ts'
import { startCollector } from '../support/collector.ts'
import type { SeenSpan } from '../support/collector.ts'
import { fewMethods } from '../support/few-methods.ts'
import { startGateway } from '../support/gateway.ts'
import type { HttpReply } from '../support/http.ts'
import { LogReader } from '../support/log-lines.ts'
import { metricIs } from '../support/metrics.ts'
import { echo, error, hang, html, result } from '../support/node-replies.ts'
import { takeBodies } from '../support/batching-node.ts'
import { startHttpNode } from '../support/scripted-http-node.ts'
import { startNode } from '../support/scripted-node.ts'
import { startSocketNode } from '../support/scripted-socket-node.ts'
import { openClient } from '../support/socket-client.ts'
import { until } from '../support/until.ts'
import { otlpFaults } from '../support/otlp-json.ts'
import { holdsNone } from '../secrets/canaries.ts'

const chainId = 1001
const collector = await startCollector(t)
const node = await startSocketNode(t, { chainId })
const refusing = await startSocketNode(t, { chainId })
const a = await startNode(t, { chainId })
const b = await startNode(t, { chainId })
const ours = await startNode(t, { chainId })
takeBodies(ours)
const beacon = await startHttpNode(t)
for (const each of [node, a, b, ours]) each.on('web3_sha3', echo).on('eth_gasPrice', result('"0x1"'))

const secrets = {
  token: 'cnryTraceToken',
  param: 'cnryTraceParam',
  path: 'cnryTracePath',
  header: 'cnryTraceHeader',
  operator: 'cnryTraceOperator',
}
const methods = `${fewMethods.replace('web3_sha3: { params: [1, 1], retry: safe }', 'web3_sha3: { params: [1, 1], retry: safe, hedge: true }')}    eth_subscribe: { needs: [ws], subscribe: eth_unsubscribe }
    eth_sendRawTransaction: { params: [1, 1], retry: dedupe, sends: true }
  http:
    "GET /eth/v1/node/*": {}
`
const gateway = await startGateway(t, {
  methods,
  networks: {
    alpha: { chainId, public: true },
    twofold: { chainId },
    hedged: { chainId, hedge: true },
    wide: { chainId, broadcast: 2 },
    split: { chainId },
    own: { chainId },
    beacon: { family: 'http', chainId: 'mainnet' },
  },
  routes: [
    {
      id: 'alpha-a',
      network: 'alpha',
      http: `${node.url}/${secrets.path}`,
      ws: node.wsUrl,
      headers: { 'X-Operator': secrets.operator },
    },
    { id: 'twofold-a', network: 'twofold', http: a.url },
    { id: 'twofold-b', network: 'twofold', http: b.url, priority: 2 },
    { id: 'hedged-a', network: 'hedged', http: a.url },
    { id: 'hedged-b', network: 'hedged', http: b.url, priority: 2 },
    { id: 'wide-a', network: 'wide', http: a.url },
    { id: 'wide-b', network: 'wide', http: b.url },
    { id: 'split-a', network: 'split', http: refusing.url, ws: refusing.wsUrl },
    { id: 'split-b', network: 'split', http: node.url, ws: node.wsUrl, priority: 2 },
    { id: 'own-a', network: 'own', http: ours.url, trace: true, batch: 10 },
    { id: 'beacon-a', network: 'beacon', http: beacon.url, trace: true },
  ],
  gateway: {
    log: { level: 'info', access: { to: 'stdout' } },
    tracing: {
      endpoint: collector.url,
      sample: '100%',
      parent: 'none',
      headers: { Authorization: `Bearer ${secrets.token}` },
    },
  },
})
const log = new LogReader(gateway)

/** The request id of a reply. */
const idOf = ({ headers }: HttpReply): string => String(headers['x-request-id'])

/** The spans of the request's trace once they are as expected, by name. */
async function traced(requestId: string, tree: string): Promise<readonly SeenSpan[]> {
  const { traceId } = await collector.call(requestId)
  await collector.when(`${tree}, not ${collector.tree(traceId)}`, () =>
    collector.tree(traceId) === tree ? true : undefined,
  )
  return collector.spans.filter(each => each.traceId === traceId)
}

const named = (spans: readonly SeenSpan[], name: string): SeenSpan[] =>
  spans.filter(each => each.name === name)

/** No part begins before the call or ends after it, and all are of today. */
function inOrder(t: Test, call: SeenSpan, parts: readonly SeenSpan[]): void {
  t.ok(call.end >= call.begin)
  t.ok(Math.abs(Number(call.begin / 1_000_000n) - Date.now()) < 3_600_000, 'it is by the wall clock')
  for (const part of parts) {
    t.ok(part.begin >= call.begin && part.end >= part.begin && part.end <= call.end, part.name)
    t.equal(part.parentSpanId, call.spanId)
  }
}

const calls = (access: Access, method: string, params: unknown = []) => access.post(message(method, params))
const access = await createAccess(gateway, 'paid', 'alpha')

t.test('a call: when it was let in, sent, and committed', async t => {
  const reply = await calls(access, 'web3_sha3', [secrets.param])
  t.equal(reply.status, 200)
  const spans = await traced(idOf(reply), 'web3_sha3(admit, commit, attempt)')
  const [call] = named(spans, 'web3_sha3')
  const [admit, commit, attempt] = ['admit', 'commit', 'attempt'].map(name => named(spans, name)[0]!)
  t.match(call, { kind: 'server', parentSpanId: null, error: null, links: [] })
  t.strictSame(call!.attributes, {
    'rpc.system': 'jsonrpc',
    'rpc.method': 'web3_sha3',
    'tollgate.network': 'alpha',
    'tollgate.plan': 'paid',
    'tollgate.transport': 'http',
    'tollgate.endpoint': access.endpointId,
    'tollgate.route': 'alpha-a',
    'tollgate.outcome': 'ok',
    'tollgate.units': 1,
    'tollgate.request_id': idOf(reply),
  })
  inOrder(t, call!, [admit!, commit!, attempt!])
  t.match([admit, commit], [{ kind: 'internal' }, { kind: 'internal' }])
  t.match(attempt, { kind: 'client', error: null })
  t.strictSame(attempt!.attributes, {
    'tollgate.network': 'alpha',
    'tollgate.route': 'alpha-a',
    'tollgate.attempt': 'first',
    'tollgate.result': 'ok',
  })
  t.ok(attempt!.begin >= admit!.end, 'it is let in before it is sent')
  t.ok(spans.every(({ traceId, spanId }) => /^[0-9a-f]{32}$/.test(traceId) && /^[0-9a-f]{16}$/.test(spanId)))
  t.equal(new Set(spans.map(({ spanId }) => spanId)).size, 4)
  const { resource } = call!
  t.match(resource, { 'service.name': 'tollgate', 'telemetry.sdk.language': 'nodejs' })
  t.strictSame(Object.keys(resource).sort(), [
    'service.name',
    'service.version',
    'telemetry.sdk.language',
    'telemetry.sdk.name',
    'telemetry.sdk.version',
  ])
  t.match(collector.requests[0], {
    url: '/v1/traces',
    headers: { authorization: `Bearer ${secrets.token}`, 'content-type': 'application/json' },
  })
  const line = await until('its line is written', () =>
    Promise.resolve(log.all().find(each => each.msg === 'call' && each['requestId'] === idOf(reply))),
  )
  t.equal(line['traceId'], call!.traceId)
  t.equal(node.last('web3_sha3').headers['traceparent'], undefined, 'its route is told nothing')
})

t.test('what is answered here, refused, or free', async t => {
  const local = await calls(access, 'eth_chainId')
  await traced(idOf(local), 'eth_chainId(admit, commit)')
  const unknown = await calls(access, 'eth_cnryTraceParam')
  const [refused] = await traced(idOf(unknown), 'other')
  t.match(refused, {
    error: null,
    attributes: { 'tollgate.outcome': 'refused', 'tollgate.reason': 'method_not_found', 'tollgate.units': 0 },
  })
  const managed = await calls(access, 'service_listEndpoints')
  await traced(idOf(managed), 'other')
  const guest = await gateway.send({ path: '/alpha/v1/rpc/public', body: message('eth_gasPrice') })
  const spans = await traced(idOf(guest), 'eth_gasPrice(admit, attempt)')
  const [call] = named(spans, 'eth_gasPrice')
  t.equal(call!.attributes['tollgate.endpoint'], undefined)
  t.equal(call!.attributes['tollgate.plan'], 'public')
})

t.test(
  "a node's own error is an answer; a node that fails is a fault, and the next route a retry",
  async t => {
    const twofold = await createAccess(gateway, 'paid', 'twofold')
    a.on('web3_sha3', error('{"code":3,"message":"execution reverted: cnryTraceParam"}'))
    const reverted = await calls(twofold, 'web3_sha3', ['0x01'])
    const [answered] = named(await traced(idOf(reverted), 'web3_sha3(admit, commit, attempt)'), 'web3_sha3')
    t.match(answered, { error: null, attributes: { 'tollgate.outcome': 'error' } })
    a.on('web3_sha3', html)
    const retried = await calls(twofold, 'web3_sha3', ['0x02'])
    t.equal(retried.status, 200)
    const spans = await traced(idOf(retried), 'web3_sha3(admit, commit, attempt, attempt)')
    const [first, second] = named(spans, 'attempt')
    t.match(first, { attributes: { 'tollgate.route': 'twofold-a', 'tollgate.attempt': 'first' } })
    t.ok(first!.error !== null && first!.error === first!.attributes['tollgate.result'])
    t.match(second, {
      error: null,
      attributes: { 'tollgate.route': 'twofold-b', 'tollgate.attempt': 'retry', 'tollgate.result': 'ok' },
    })
    t.equal(named(spans, 'web3_sha3')[0]!.error, null, 'the call went well')
    b.on('web3_sha3', html)
    const failed = await calls(twofold, 'web3_sha3', ['0x03'])
    t.equal(failed.status, 502)
    const { error: fault, attributes } = await collector.call(idOf(failed))
    t.equal(fault, 'upstream_error')
    t.match(attributes, { 'tollgate.outcome': 'refused', 'tollgate.reason': 'upstream_error' })
    for (const each of [a, b]) each.on('web3_sha3', echo)
  },
)

t.test('a hedge beside a slow attempt, which is over when its call is', async t => {
  const hedged = await createAccess(gateway, 'paid', 'hedged')
  const methodOf = (span: SeenSpan): unknown => span.attributes['tollgate.attempt']
  for (let i = 0; i < 40; i += 1) await calls(hedged, 'web3_sha3', ['0x00'])
  a.on('web3_sha3', hang)
  const reply = await calls(hedged, 'web3_sha3', ['0x00'])
  t.match(reply.text, '0x00')
  const { traceId, spanId } = await collector.call(idOf(reply))
  const both = await collector.when('both attempts', spans => {
    const found = spans.filter(each => each.traceId === traceId && each.name === 'attempt')
    return found.length === 2 ? found : undefined
  })
  t.strictSame(new Set(both.map(methodOf)), new Set(['first', 'hedge']))
  t.match(
    both.find(span => methodOf(span) === 'hedge'),
    { error: null, attributes: { 'tollgate.result': 'ok' } },
  )
  t.ok(both.every(({ parentSpanId }) => parentSpanId === spanId))
  a.on('web3_sha3', echo)
})

t.test('a transaction that goes to two routes', async t => {
  const wide = await createAccess(gateway, 'paid', 'wide')
  const hash = `"0x${'ab'.repeat(32)}"`
  for (const each of [a, b]) each.on('eth_sendRawTransaction', result(hash))
  const reply = await calls(wide, 'eth_sendRawTransaction', ['0xcnryTraceParam'])
  const { traceId } = await collector.call(idOf(reply))
  const kinds = await collector.when('both attempts', spans => {
    const found = spans.filter(each => each.traceId === traceId && each.name === 'attempt')
    return found.length === 2 ? found.map(each => each.attributes['tollgate.attempt']) : undefined
  })
  t.strictSame(new Set(kinds), new Set(['first', 'broadcast']))
})

t.test('a batch is one trace: a span of it, and below it one of each call', async t => {
  const items = [message('eth_chainId'), message('web3_sha3', [secrets.param]), message('nope')]
  const reply = await access.post(`[${items.join(',')}]`)
  const spans = await traced(
    idOf(reply),
    'batch(other, eth_chainId(admit, commit), web3_sha3(admit, commit, attempt))',
  )
  const [batch] = named(spans, 'batch')
  t.match(batch, {
    kind: 'server',
    parentSpanId: null,
    attributes: { 'tollgate.batch.size': 3, 'tollgate.request_id': idOf(reply), 'tollgate.network': 'alpha' },
  })
  const indexes = ['eth_chainId', 'web3_sha3', 'other'].map(
    name => named(spans, name)[0]!.attributes['tollgate.batch.index'],
  )
  t.strictSame(indexes, [0, 1, 2])
  for (const name of ['eth_chainId', 'web3_sha3', 'other']) {
    const [call] = named(spans, name)
    t.ok(call!.begin >= batch!.begin && call!.end <= batch!.end, name)
  }
})

t.test('each frame of a socket is a trace, and all link to what the handshake said', async t => {
  const client = await openClient(t, access, {
    headers: { traceparent: `00-${'ab'.repeat(16)}-${'cd'.repeat(8)}-01` },
  })
  await client.call('web3_sha3', ['0x11'])
  await client.call('web3_sha3', ['0x12'])
  const over = (spans: readonly SeenSpan[]) =>
    spans.filter(each => each.name === 'web3_sha3' && each.attributes['tollgate.transport'] === 'ws')
  const both = await collector.when('both', spans => (over(spans).length === 2 ? over(spans) : undefined))
  t.equal(new Set(both.map(({ traceId }) => traceId)).size, 2)
  for (const { parentSpanId, links } of both) {
    t.equal(parentSpanId, null)
    t.strictSame(links, [{ traceId: 'ab'.repeat(16), spanId: 'cd'.repeat(8) }])
  }
  await client.close()
})

t.test('bug: a subscription that was opened at a node had no attempt', async t => {
  refusing.refusesSockets = true
  const client = await openClient(t, await createAccess(gateway, 'paid', 'split'))
  const calls = (spans: readonly SeenSpan[]) => named(spans, 'eth_subscribe')
  /** The attempts of the trace of the latest call, once its spans are as expected. */
  const attempts = async (nth: number, tree: string) => {
    const { traceId } = await collector.when(`call ${nth}`, spans => calls(spans)[nth])
    await collector.when(`${tree}, not ${collector.tree(traceId)}`, () =>
      collector.tree(traceId) === tree ? true : undefined,
    )
    return named(collector.spans, 'attempt')
      .filter(each => each.traceId === traceId)
      .map(({ error, attributes: { 'tollgate.route': route, 'tollgate.attempt': kind, ...more } }) =>
        [route, kind, more['tollgate.result'], error].join(' '),
      )
  }
  await client.subscribe('eth_subscribe', ['newHeads'])
  t.strictSame(await attempts(0, 'eth_subscribe(admit, commit, attempt, attempt)'), [
    'split-a first unreachable unreachable',
    'split-b retry ok ',
  ])
  await client.subscribe('eth_subscribe', ['newHeads'])
  t.strictSame(await attempts(1, 'eth_subscribe(admit, commit)'), [], 'it is open already')
  await client.close()
  node.onSubscribe(() => ({ error: '{"code":-32602,"message":"no such kind"}' }))
  const other = await openClient(t, access)
  t.match(await other.call('eth_subscribe', ['unheard']), { error: { code: -32602 } })
  t.strictSame(await attempts(2, 'eth_subscribe(admit, commit, attempt)'), ['alpha-a first error '])
  node.onSubscribe(() => 'accept')
  await other.close()
})

t.test('a request to an HTTP API, by the rule and not by its path', async t => {
  const through = await createAccess(gateway, 'paid', 'beacon')
  const get = (path: string) =>
    gateway.send({ method: 'GET', path: through.path + path, headers: { 'content-type': undefined } })
  beacon.on('/eth/v1/node/cnryTraceParam', (_, response) => void response.end('{}'))
  const reply = await get('/eth/v1/node/cnryTraceParam?of=cnryTraceParam')
  t.equal(reply.status, 200)
  const spans = await traced(idOf(reply), 'GET /eth/v1/node/*(admit, commit, attempt)')
  const [call] = named(spans, 'GET /eth/v1/node/*')
  const [attempt] = named(spans, 'attempt')
  t.match(call!.attributes, {
    'http.request.method': 'GET',
    'http.route': '/eth/v1/node/*',
    'http.response.status_code': 200,
  })
  t.equal(call!.attributes['rpc.method'], undefined)
  const { headers } = beacon.asked('/eth/v1/node/cnryTraceParam').at(-1)!
  t.equal(headers['traceparent'], `00-${call!.traceId}-${attempt!.spanId}-01`, 'its route says so')
  beacon.on('/eth/v1/node/bad', (_, response) => void response.writeHead(500).end('{}'))
  const bad = await collector.call(idOf(await get('/eth/v1/node/bad')))
  t.ok(bad.error !== null, 'a 5xx is a fault')
})

t.test('a route of our own is told which attempt it is; one body of several calls names one', async t => {
  const own = await createAccess(gateway, 'paid', 'own')
  const foreign = `00-${'12'.repeat(16)}-${'34'.repeat(8)}-01`
  const reply = await own.post(message('web3_sha3', ['0x21']), { headers: { traceparent: foreign } })
  const spans = await traced(idOf(reply), 'web3_sha3(admit, commit, attempt)')
  const [attempt] = named(spans, 'attempt')
  const { headers } = ours.last('web3_sha3')
  t.equal(headers['traceparent'], `00-${attempt!.traceId}-${attempt!.spanId}-01`)
  t.strictSame(named(spans, 'web3_sha3')[0]!.links, [{ traceId: '12'.repeat(16), spanId: '34'.repeat(8) }])
  const before = ours.requests.length
  const batch = await own.post(`[${message('web3_sha3', ['0x22'])},${message('web3_sha3', ['0x23'])}]`)
  const [first] = await traced(
    idOf(batch),
    'batch(web3_sha3(admit, commit, attempt), web3_sha3(admit, commit, attempt))',
  )
  const told = ours.requests.slice(before).filter(({ text }) => text.includes('web3_sha3'))
  t.equal(told.length, 1, 'one body')
  t.ok(
    collector.spans.some(
      ({ traceId, spanId, name }) =>
        name === 'attempt' && told[0]!.headers['traceparent'] === `00-${traceId}-${spanId}-01`,
    ),
  )
  t.match(told[0]!.headers['traceparent'], first!.traceId)
})

t.test('a collector sees no param, key, URL, address or header', async t => {
  const last = await calls(access, 'web3_sha3', [secrets.param])
  await collector.call(idOf(last))
  const bodies = collector.bodies.join('\n')
  t.ok(collector.spans.length > 50, 'it has seen a lot')
  holdsNone(t, bodies, { ...secrets, key: access.key }, 'no canary')
  t.notMatch(bodies, '127.0.0.1')
  t.notMatch(bodies, access.accountId)
  for (const { port } of [node, a, b, gateway]) t.notMatch(bodies, `:${port}`)
  holdsNone(t, gateway.printed, secrets, 'nor does the log')
})

t.test('bug: integers of spans were numbers, which OTLP writes as text in JSON', t => {
  t.ok(collector.bodies.some(body => body.includes('"tollgate.batch.size","value":{"intValue":"3"}')))
  t.strictSame(collector.bodies.flatMap(otlpFaults), [], 'nor is anything else written otherwise')
  t.end()
})

t.test('every span is counted once', async () => {
  await metricIs(gateway, 'tollgate_trace_spans_total', { result: 'sent' }, collector.spans.length)
  await metricIs(gateway, 'tollgate_trace_spans_total', { result: 'failed' }, 0)
})
