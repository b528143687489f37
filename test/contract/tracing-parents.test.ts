/** Whose word decides what is traced, and what is traced without anybody's. */
import t from 'tap'
import { message } from '../support/access.ts'
import type { Access } from '../support/access.ts'
import { createAccess } from '../support/accounts.ts'
import { startCollector } from '../support/collector.ts'
import type { Collector } from '../support/collector.ts'
import { fewMethods } from '../support/few-methods.ts'
import { startGateway } from '../support/gateway.ts'
import { metricIs } from '../support/metrics.ts'
import { html, result } from '../support/node-replies.ts'
import { startNode } from '../support/scripted-node.ts'
import type { Teardown } from '../support/teardown.ts'

const chainId = 1001
const node = await startNode(t, { chainId })
node.on('eth_gasPrice', result('"0x1"')).on('web3_sha3', html)
const TRACE = '0af7651916cd43dd8448eb211c80319c'
const SPAN = 'b7ad6b7169203331'
const sampled = { traceparent: `00-${TRACE}-${SPAN}-01` }
const unsampled = { traceparent: `00-${TRACE}-${SPAN}-00` }

interface Traced {
  readonly collector: Collector
  readonly access: Access
}

async function start(
  t: Teardown,
  tracing: Readonly<Record<string, unknown>>,
  more: Readonly<Record<string, unknown>> = {},
): Promise<Traced> {
  const collector = await startCollector(t)
  const gateway = await startGateway(t, {
    methods: fewMethods,
    networks: { alpha: { chainId, share: false } },
    routes: [{ id: 'alpha-a', network: 'alpha', http: node.url, trace: true }],
    gateway: { tracing: { endpoint: collector.url, ...tracing }, ...more },
  })
  return { collector, access: await createAccess(gateway, 'paid', 'alpha') }
}

const call = (access: Access, headers: Readonly<Record<string, string>> = {}, method = 'eth_gasPrice') =>
  access.post(message(method, method === 'eth_gasPrice' ? [] : ['0x00']), { headers })
const idOf = (reply: { readonly headers: Readonly<Record<string, unknown>> }): string =>
  String(reply.headers['x-request-id'])

/** Ends the gateway, which exports all that it has, and gives the request ids that were traced. */
async function tracedBy({ collector, access }: Traced): Promise<unknown[]> {
  await access.gateway.stop()
  return collector.spans
    .filter(({ kind, name }) => kind === 'server' && name !== 'batch')
    .map(({ attributes }) => attributes['tollgate.request_id'])
}

t.test('parent: none: a flood of strangers with the sampled flag records nothing', async t => {
  const traced = await start(t, { sample: '0%' })
  for (let i = 0; i < 10; i += 1)
    await Promise.all(Array.from({ length: 50 }, () => call(traced.access, sampled)))
  t.strictSame(await tracedBy(traced), [])
  t.strictSame(traced.collector.bodies, [])
  t.match(
    node.last('eth_gasPrice').headers['traceparent'],
    /^00-(?!0af76519)[0-9a-f]{32}-[0-9a-f]{16}-00$/,
    'the node is told that nothing is recorded, in a trace of ours',
  )
})

t.test('parent: any: the flag decides, and the trace goes on', async t => {
  const traced = await start(t, { sample: '0%', parent: 'any' })
  const { access, collector } = traced
  const recorded = await call(access, sampled)
  const told = node.last('eth_gasPrice').headers['traceparent']
  await call(access, unsampled)
  t.match(
    node.last('eth_gasPrice').headers['traceparent'],
    new RegExp(`^00-${TRACE}-(?!${SPAN})[0-9a-f]{16}-00$`),
  )
  await call(access)
  await call(access, { traceparent: `00-${TRACE}-${SPAN}-0x` })
  const batch = await access.post(`[${message('eth_gasPrice')},${message('eth_chainId')}]`, {
    headers: sampled,
  })
  t.strictSame(await tracedBy(traced), [idOf(recorded), idOf(batch), idOf(batch)])
  t.equal(
    collector.tree(TRACE),
    'eth_gasPrice(admit, commit, attempt), batch(eth_chainId(admit, commit), eth_gasPrice(admit, commit, attempt))',
  )
  const roots = collector.spans.filter(({ parentSpanId }) => parentSpanId === SPAN)
  t.strictSame(
    roots.map(({ name, links }) => ({ name, links })),
    [
      { name: 'eth_gasPrice', links: [] },
      { name: 'batch', links: [] },
    ],
  )
  const [attempt] = collector.spans.filter(({ name }) => name === 'attempt')
  t.equal(told, `00-${TRACE}-${attempt!.spanId}-01`)
})

t.test('parent: any: what says not to be recorded is not, whatever the sample', async t => {
  const traced = await start(t, { sample: '100%', parent: 'any' })
  await call(traced.access, unsampled)
  const own = await call(traced.access)
  t.strictSame(await tracedBy(traced), [idOf(own)])
})

t.test('parent: trusted: only from the proxies that are trusted', async t => {
  const trusted = await start(t, { sample: '0%', parent: 'trusted' }, { trustedProxies: ['127.0.0.0/8'] })
  const recorded = await call(trusted.access, sampled)
  t.strictSame(await tracedBy(trusted), [idOf(recorded)])
  const others = await start(t, { sample: '0%', parent: 'trusted' }, { trustedProxies: ['10.0.0.0/8'] })
  await call(others.access, { ...sampled, 'x-forwarded-for': '10.0.0.1' })
  t.strictSame(await tracedBy(others), [])
})

t.test('keep: calls that failed are traced though none is sampled, and no others', async t => {
  const traced = await start(t, { sample: '0%', keep: { errors: true } })
  const { access, collector } = traced
  await call(access)
  await call(access, {}, 'eth_unknown')
  const failed = await call(access, {}, 'web3_sha3')
  t.equal(failed.status, 502)
  t.match(node.last('web3_sha3').headers['traceparent'], /-00$/, 'while it runs nobody knows')
  const batch = await access.post(`[${message('web3_sha3', ['0x00'])},${message('eth_chainId')}]`)
  t.strictSame(await tracedBy(traced), [idOf(failed), idOf(batch)])
  const [call1, call2] = collector.spans.filter(({ name }) => name === 'web3_sha3')
  t.match(call1!.attributes, { 'tollgate.kept': 'error', 'tollgate.reason': 'upstream_error' })
  t.match(collector.tree(call1!.traceId), /^web3_sha3\(admit, attempt/)
  t.match(collector.tree(call2!.traceId), /^batch\(web3_sha3\(/, 'with the batch that it is of')
})

t.test('keep: calls that took long are', async t => {
  const traced = await start(t, { sample: '0%', keep: { slow: '50ms' } })
  node.on('eth_gasPrice', (request, response) => {
    setTimeout(() => {
      void result('"0x1"')(request, response)
    }, 60)
  })
  const slow = await call(traced.access)
  t.strictSame(await tracedBy(traced), [idOf(slow)])
  t.equal(traced.collector.spans[0]!.attributes['tollgate.kept'], 'slow')
  node.on('eth_gasPrice', result('"0x1"'))
})

t.test('keep: a time that all calls fail keeps a few of them', async t => {
  const traced = await start(t, { sample: '0%', keep: { errors: true } })
  const accesses = [traced.access]
  while (accesses.length < 6) accesses.push(await createAccess(traced.access.gateway, 'paid', 'alpha'))
  await node.close()
  const begin = performance.now()
  for (let i = 0; i < 6; i += 1)
    await Promise.all(Array.from({ length: 50 }, (_, n) => call(accesses[n % 6]!)))
  const seconds = Math.ceil((performance.now() - begin) / 1000)
  const kept = await tracedBy(traced)
  t.ok(kept.length >= 50 && kept.length <= 50 * (seconds + 1), `${kept.length} in ${seconds} s`)
  await node.listen()
})

t.test('bug: one account whose calls all failed left no room for the failures of others', async t => {
  const traced = await start(t, { sample: '0%', keep: { errors: true } })
  const other = await createAccess(traced.access.gateway, 'paid', 'alpha')
  const failing = Array.from({ length: 100 }, () => message('web3_sha3', ['0x00']))
  await traced.access.post(`[${failing.join(',')}]`)
  const failed = idOf(await call(other, {}, 'web3_sha3'))
  t.ok((await tracedBy(traced)).includes(failed))
})

t.test('a call that is refused before it is read has no span', async t => {
  const traced = await start(t, { sample: '100%' })
  const { gateway } = traced.access
  await gateway.send({ path: '/alpha/v1/rpc/nobody', body: message('eth_gasPrice') })
  await traced.access.post('{')
  await metricIs(gateway, 'tollgate_trace_spans_total', { result: 'sent' }, 0)
  t.strictSame(await tracedBy(traced), [])
})
