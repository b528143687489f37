import t from 'tap'
import { openOtlp } from '../../../src/observe/tracing/otlp.ts'
import type { Span } from '../../../src/observe/tracing/span.ts'
import { startCollector } from '../../support/collector.ts'
import { otlpFaults } from '../../support/otlp-json.ts'

const span: Span = {
  name: 'a "intValue":1 of a name, é',
  kind: 'client',
  traceId: '1'.repeat(32),
  spanId: '2'.repeat(16),
  parent: { spanId: '3'.repeat(16), isRemote: true },
  link: { traceId: '4'.repeat(32), spanId: '5'.repeat(16), isSampled: true },
  begin: Date.now(),
  end: Date.now() + 1.5,
  error: 'timeout',
  attributes: { text: '"intValue":2', whole: 3, less: -4, part: 0.5, yes: true },
}

t.test('what is exported is OTLP, and says what the span says', async t => {
  const collector = await startCollector(t)
  const exporter = openOtlp({ endpoint: collector.url, headers: { 'X-One': '1' } }, { 'tollgate.worker': 0 })
  t.equal(await exporter.export([span]), 0)
  t.strictSame(collector.bodies.flatMap(otlpFaults), [])
  t.match(collector.spans, [
    {
      name: span.name,
      kind: 'client',
      traceId: span.traceId,
      spanId: span.spanId,
      error: 'timeout',
      parentSpanId: '3'.repeat(16),
      links: [{ traceId: '4'.repeat(32), spanId: '5'.repeat(16) }],
      attributes: { text: '"intValue":2', whole: 3, less: -4, yes: true },
    },
  ])
  t.match(collector.requests[0]!.headers, { 'content-type': 'application/json', 'x-one': '1' })
  exporter.destroy()
})

t.test('how many a collector does not accept, whatever it replies', async t => {
  const collector = await startCollector(t)
  const exporter = openOtlp({ endpoint: collector.url, headers: {} }, {})
  for (const [reply, rejected] of [
    ['', 0],
    ['{}', 0],
    ['null', 0],
    ['5', 0],
    ['no JSON', 0],
    ['{"partialSuccess":null}', 0],
    ['{"partialSuccess":{"rejectedSpans":"2","errorMessage":"no"}}', 2],
    ['{"partialSuccess":{"rejectedSpans":1}}', 1],
    ['{"partialSuccess":{"rejectedSpans":"99999999999999999999"}}', 2],
    ['{"partialSuccess":{"rejectedSpans":-1}}', 0],
    ['{"partialSuccess":{"rejectedSpans":{}}}', 0],
    [`{"partialSuccess":{"rejectedSpans":"1","errorMessage":"${'x'.repeat(100_000)}"}}`, 0],
  ] as const) {
    collector.answer = response => void response.end(reply)
    t.equal(await exporter.export([span, span]), rejected, reply.slice(0, 80))
  }
  exporter.destroy()
})

t.test('bug: a process that had stopped waited for an export that was under way', async t => {
  const collector = await startCollector(t)
  collector.answer = () => undefined
  const waits = (): number => process.getActiveResourcesInfo().filter(name => name === 'Timeout').length
  const before = waits()
  const exporter = openOtlp({ endpoint: collector.url, headers: {} }, {})
  void exporter.export([span]).catch(() => undefined)
  await collector.exports(1)
  t.equal(waits(), before, 'no timer of it keeps the process')
  exporter.destroy()
})

t.test('bug: a reply that was too long was told as one that asks to be tried again later', async t => {
  const collector = await startCollector(t)
  collector.answer = response => void response.end(Buffer.alloc(5 * 1024 * 1024, ' '))
  const exporter = openOtlp({ endpoint: collector.url, headers: {} }, {})
  await t.rejects(exporter.export([span]), { message: 'its reply is too long' })
  exporter.destroy()
})
