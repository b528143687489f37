import t from 'tap'
import {
  formatTraceparent,
  newSpanId,
  newTraceId,
  parseTraceparent,
} from '../../../src/observe/tracing/traceparent.ts'

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const SPAN = 'b7ad6b7169203331'

t.test('what is well-formed is read', t => {
  for (const [flags, isSampled] of [
    ['00', false],
    ['01', true],
    ['02', false],
    ['03', true],
    ['ff', true],
  ] as const)
    t.strictSame(parseTraceparent(`00-${TRACE}-${SPAN}-${flags}`), {
      traceId: TRACE,
      spanId: SPAN,
      isSampled,
    })
  t.strictSame(
    parseTraceparent(`cc-${TRACE}-${SPAN}-01-what-the-future-will-be`),
    { traceId: TRACE, spanId: SPAN, isSampled: true },
    'a later version may say more behind a dash',
  )
  t.end()
})

t.test('what is not is ignored', t => {
  const zeros = (count: number): string => '0'.repeat(count)
  for (const header of [
    '',
    '-',
    `00-${TRACE}-${SPAN}`,
    `00-${TRACE}-${SPAN}-1`,
    `00-${TRACE}-${SPAN}-01-`,
    `00-${TRACE}-${SPAN}-01-more`,
    `00-${TRACE}-${SPAN}-011`,
    `cc-${TRACE}-${SPAN}-01.more`,
    `ff-${TRACE}-${SPAN}-01`,
    `0x-${TRACE}-${SPAN}-01`,
    `00_${TRACE}-${SPAN}-01`,
    `00-${TRACE}_${SPAN}-01`,
    `00-${TRACE}-${SPAN}_01`,
    `00-${TRACE.toUpperCase()}-${SPAN}-01`,
    `00-${TRACE}-${SPAN.toUpperCase()}-01`,
    `00-${TRACE}-${SPAN}-0g`,
    `00-${zeros(32)}-${SPAN}-01`,
    `00-${TRACE}-${zeros(16)}-01`,
    ` 00-${TRACE}-${SPAN}-01`,
    `00-${TRACE}-${SPAN}-01, 00-${TRACE}-${SPAN}-01`,
    `00-${TRACE.slice(1)}é-${SPAN}-01`,
    '0'.repeat(55),
    '-'.repeat(8_000),
  ])
    t.equal(parseTraceparent(header), null, header.slice(0, 80))
  t.end()
})

t.test('what is written is read again, and ids are never the same', t => {
  const ids = new Set<string>()
  for (let i = 0; i < 2_000; i += 1) {
    const context = { traceId: newTraceId(), spanId: newSpanId(), isSampled: i % 2 === 0 }
    if (i < 4) t.strictSame(parseTraceparent(formatTraceparent(context)), context)
    ids.add(context.traceId)
    ids.add(context.spanId)
  }
  t.equal(ids.size, 4_000)
  t.end()
})
