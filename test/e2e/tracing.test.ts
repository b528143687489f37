/** Traces of the real process: a collector that is not well, a reload, several workers, and the end. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { parse, stringify } from 'yaml'
import { message } from '../support/access.ts'
import type { Access } from '../support/access.ts'
import { createAccess } from '../support/accounts.ts'
import { startCollector } from '../support/collector.ts'
import { fewMethods } from '../support/few-methods.ts'
import { startGateway } from '../support/gateway.ts'
import type { Gateway } from '../support/gateway.ts'
import { send } from '../support/http.ts'
import { LogReader } from '../support/log-lines.ts'
import { metric, metricIs } from '../support/metrics.ts'
import { hang, html, result } from '../support/node-replies.ts'
import { run } from '../support/cli.ts'
import { startNode } from '../support/scripted-node.ts'
import type { Teardown } from '../support/teardown.ts'
import { until } from '../support/until.ts'
import { crewOf } from '../support/workers.ts'

const chainId = 1001
const node = await startNode(t, { chainId })
node.on('eth_gasPrice', result('"0x1"'))

function start(t: Teardown, tracing: object | null, more: object = {}): Promise<Gateway> {
  return startGateway(t, {
    methods: `${fewMethods}    eth_call: { params: [1, 2], timeout: heavy }\n`,
    networks: { alpha: { chainId, share: false } },
    routes: [{ id: 'alpha-a', network: 'alpha', http: node.url }],
    gateway: { ...(tracing === null ? {} : { tracing }), ...more, log: { level: 'info' } },
  })
}

const SPANS = 'tollgate_trace_spans_total'
/** Spans of a forwarded call. */
const OF_A_CALL = 4

/** Makes calls, side by side, and gives how many went well. */
async function good(access: Access, count: number): Promise<number> {
  const replies = await Promise.all(Array.from({ length: count }, () => access.post(message('eth_gasPrice'))))
  return replies.filter(({ status, text }) => status === 200 && text.includes('0x1')).length
}

/** Changes gateway.yaml, and has it served. */
async function edit(gateway: Gateway, change: (document: Record<string, any>) => void): Promise<void> {
  const file = join(gateway.dir, 'gateway.yaml')
  const document = parse(await readFile(file, 'utf8')) as Record<string, any>
  change(document)
  await writeFile(file, stringify(document))
  const { status, text } = await send(Number(new URL(gateway.adminUrl).port), { path: '/reload', body: '' })
  if (status !== 200) throw new Error(text)
}

t.test('a collector that refuses: calls go on, spans are counted, and the log says so once', async t => {
  const collector = await startCollector(t)
  const { url } = collector
  await collector.stop()
  const gateway = await start(t, { endpoint: url, sample: '100%' })
  const access = await createAccess(gateway, 'paid', 'alpha')
  t.equal(await good(access, 50), 50)
  const log = new LogReader(gateway)
  const line = await until('the log says so', () =>
    Promise.resolve(log.all().find(({ msg }) => msg === 'traces cannot be exported')),
  )
  t.equal(line['why'], 'ECONNREFUSED')
  t.notMatch(JSON.stringify(line), '127.0.0.1')
  await collector.start()
  const again = await until('it says that they are exported again', async () => {
    await good(access, 40)
    return log.all().find(({ msg }) => msg === 'traces are exported again')
  })
  t.ok((again['lost'] as number) > 0)
  t.equal(log.all().filter(({ msg }) => msg.startsWith('traces ')).length, 2)
})

t.test('a collector that says no, or asks to be left alone', async t => {
  for (const [status, why] of [
    [401, 'HTTP 401'],
    [500, 'HTTP 500'],
    [503, 'it asks to be tried again later'],
  ] as const) {
    const collector = await startCollector(t)
    collector.answer = response => {
      response.writeHead(status, { 'retry-after': '60' }).end('{"message":"cnryTraceReply"}')
    }
    const gateway = await start(t, { endpoint: `${collector.url}/otlp`, sample: '100%' })
    const access = await createAccess(gateway, 'paid', 'alpha')
    t.equal(await good(access, 10), 10)
    await metricIs(gateway, SPANS, { result: 'failed' }, 10 * OF_A_CALL)
    t.equal(collector.requests[0]!.url, '/otlp', 'a path is taken as it is')
    t.match(gateway.printed, `"why":"${why}"`)
    t.notMatch(gateway.printed, 'cnryTraceReply')
  }
})

t.test('bug: spans that a collector did not accept were counted as sent', async t => {
  const collector = await startCollector(t)
  const said = { rejectedSpans: '128', errorMessage: 'cnryTraceReply' }
  collector.answer = response => void response.end(JSON.stringify({ partialSuccess: said }))
  const gateway = await start(t, { endpoint: collector.url, sample: '100%' })
  const access = await createAccess(gateway, 'paid', 'alpha')
  t.equal(await good(access, 32), 32)
  await metricIs(gateway, SPANS, { result: 'failed' }, 32 * OF_A_CALL)
  t.equal(await metric(gateway, SPANS, { result: 'sent' }), 0)
  t.match(gateway.printed, '"why":"it rejects spans"')
  t.notMatch(gateway.printed, 'cnryTraceReply')
})

t.test('a collector that hangs costs 2 048 spans, and no call', async t => {
  const collector = await startCollector(t)
  collector.answer = () => undefined
  const gateway = await start(t, { endpoint: collector.url, sample: '100%' })
  const access = await createAccess(gateway, 'paid', 'alpha')
  for (let i = 0; i < 20; i += 1) t.equal(await good(access, 50), 50)
  const made = 1000 * OF_A_CALL
  const dropped = await metric(gateway, SPANS, { result: 'dropped' })
  const exported = collector.spans.length
  t.ok(dropped >= made - 2_048 - exported, `${dropped} dropped of ${made}, ${exported} came`)
  t.equal(await metric(gateway, SPANS, { result: 'sent' }), 0)
  t.strictSame(await gateway.stop(), { code: 0, signal: null }, 'it ends all the same')
})

t.test('the last spans leave behind the last call', async t => {
  const collector = await startCollector(t)
  const gateway = await start(t, { endpoint: collector.url, sample: '100%' })
  const access = await createAccess(gateway, 'paid', 'alpha')
  const slow = node.requests.length
  let finish = (): void => undefined
  node.on('web3_sha3', (request, response) => {
    finish = () => void result('"0x2"')(request, response)
  })
  t.equal(await good(access, 100), 100)
  const last = access.post(message('web3_sha3', ['0x00']))
  await node.arrived('web3_sha3')
  t.ok(node.requests.length > slow)
  const stopped = gateway.stop()
  await until('it drains', () => Promise.resolve(gateway.printed.includes('"draining"')))
  finish()
  t.equal((await last).status, 200)
  t.strictSame(await stopped, { code: 0, signal: null })
  t.equal(collector.spans.length, 101 * OF_A_CALL)
  t.equal(collector.spans.filter(({ name }) => name === 'web3_sha3').length, 1)
})

t.test('a reload begins, changes and ends it', async t => {
  const first = await startCollector(t)
  const second = await startCollector(t)
  const gateway = await start(t, null)
  const access = await createAccess(gateway, 'paid', 'alpha')
  t.equal(await good(access, 3), 3)
  t.notMatch(
    (await send(Number(new URL(gateway.adminUrl).port), { path: '/metrics', method: 'GET' })).text,
    SPANS,
  )
  const headers = { Authorization: 'Bearer cnryTraceToken' }
  await edit(gateway, document => (document['tracing'] = { endpoint: first.url, sample: '100%', headers }))
  t.equal(await good(access, 2), 2)
  await edit(gateway, document => (document['tracing'].sample = '0%'))
  t.equal(await good(access, 2), 2)
  await edit(gateway, document => (document['tracing'] = { endpoint: second.url, sample: '100%' }))
  t.equal(await good(access, 1), 1)
  await edit(gateway, document => delete document['tracing'])
  t.equal(await good(access, 2), 2)
  await metricIs(gateway, SPANS, { result: 'sent' }, 3 * OF_A_CALL)
  t.equal(first.spans.length, 2 * OF_A_CALL)
  t.equal(second.spans.length, OF_A_CALL)
  const { printed } = gateway
  t.match(printed, 'gateway.yaml: ~ tracing none → {endpoint: (hidden), headers: {Authorization: (hidden)}')
  t.match(printed, 'gateway.yaml: ~ tracing.sample 1 → 0')
  t.match(printed, 'gateway.yaml: ~ tracing.endpoint changed')
  t.notMatch(printed, 'cnryTraceToken')
  t.notMatch(printed, first.url)
})

t.test('bug: a call that was under way at a reload lost its spans', async t => {
  const first = await startCollector(t)
  const second = await startCollector(t)
  const gateway = await start(t, { endpoint: first.url, sample: '100%' })
  const access = await createAccess(gateway, 'paid', 'alpha')
  let finish = (): void => undefined
  node.on('web3_sha3', (request, response) => {
    finish = () => void result('"0x2"')(request, response)
  })
  const before = node.count('web3_sha3')
  const slow = access.post(message('web3_sha3', ['0x00']))
  await node.arrived('web3_sha3', before + 1)
  await edit(gateway, document => (document['tracing'].endpoint = second.url))
  finish()
  const reply = await slow
  t.equal(reply.status, 200)
  const { name, traceId } = await second.call(String(reply.headers['x-request-id']))
  t.equal(name, 'web3_sha3')
  t.equal(second.tree(traceId), 'web3_sha3(admit, commit, attempt)')
  t.strictSame(first.spans, [])
})

t.test('from the id in a reply to its trace, and back', async t => {
  const collector = await startCollector(t)
  const tracing = { endpoint: collector.url, sample: '0%', keep: { errors: true } }
  const gateway = await start(t, tracing)
  const access = await createAccess(gateway, 'paid', 'alpha')
  node.on('web3_sha3', html)
  const reply = await access.post(message('web3_sha3', ['0x00']))
  const requestId = String(reply.headers['x-request-id'])
  const { traceId, attributes } = await collector.call(requestId)
  t.equal(attributes['tollgate.kept'], 'error')
  const { stdout } = await run(['find', requestId, '--config', gateway.dir])
  t.match(stdout, `, trace ${traceId}\n`, 'bug: find said it in JSON alone')
})

t.test('each worker exports its own, and the metric is the sum of all', async t => {
  const collector = await startCollector(t)
  const gateway = await start(
    t,
    { endpoint: collector.url, sample: '100%' },
    { workers: { count: 2, balance: 'roundRobin' }, node: { name: 'rpc-7' } },
  )
  await crewOf(gateway, 2)
  const access = await createAccess(gateway, 'paid', 'alpha')
  t.equal(await good(access, 40), 40)
  await collector.when('all spans', spans => (spans.length === 40 * OF_A_CALL ? true : undefined))
  const workers = new Set(collector.spans.map(({ resource }) => resource['tollgate.worker']))
  t.equal(workers.size, 2)
  t.ok(collector.spans.every(({ resource }) => resource['service.instance.id'] === 'rpc-7'))
  await metricIs(gateway, SPANS, { result: 'sent' }, 40 * OF_A_CALL)
})

t.test('a client that leaves is no fault, and its call is traced as it ended', async t => {
  const collector = await startCollector(t)
  const gateway = await start(t, { endpoint: collector.url, sample: '0%', keep: { errors: true } })
  const access = await createAccess(gateway, 'paid', 'alpha')
  node.on('eth_call', hang)
  const controller = new AbortController()
  const left = fetch(`http://127.0.0.1:${gateway.port}${access.path}`, {
    method: 'POST',
    body: message('eth_call', [{}]),
    signal: controller.signal,
    headers: { 'content-type': 'application/json' },
  }).catch(() => null)
  await node.arrived('eth_call')
  controller.abort()
  await left
  await metricIs(gateway, 'tollgate_calls_total', { method: 'eth_call', outcome: 'failed' }, 1)
  t.equal(await good(access, 1), 1)
  t.strictSame(await gateway.stop(), { code: 0, signal: null })
  t.strictSame(collector.spans, [])
})
