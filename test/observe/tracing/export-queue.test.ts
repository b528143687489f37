import t from 'tap'
import { ExportQueue, Unsent } from '../../../src/observe/tracing/export-queue.ts'
import type { SpanResult } from '../../../src/observe/tracing/export-queue.ts'
import type { Span } from '../../../src/observe/tracing/span.ts'
import { until } from '../../support/until.ts'

const span = (name: string): Span => ({
  name,
  kind: 'server',
  traceId: '1'.repeat(32),
  spanId: '1'.repeat(16),
  parent: null,
  link: null,
  begin: 0,
  end: 1,
  attributes: {},
  error: null,
})

/** A queue whose exports end when the test says so. */
function queueOf() {
  const exports: {
    readonly spans: readonly Span[]
    ok: (rejected?: number) => void
    fail: (why?: string) => void
  }[] = []
  const counts: Record<SpanResult, number> = { sent: 0, dropped: 0, failed: 0 }
  const said: string[] = []
  const state = { destroyed: false, now: 0 }
  const queue = new ExportQueue(
    {
      export: spans =>
        new Promise((resolve, reject) => {
          const fail = (why = 'HTTP 500'): void => {
            reject(new Unsent(why))
          }
          const ok = (rejected = 0): void => {
            resolve(rejected)
          }
          exports.push({ spans, ok, fail })
        }),
      destroy: () => (state.destroyed = true),
    },
    {
      counted: (result, spans) => (counts[result] += spans),
      fails: why => said.push(`fails: ${why}`),
      works: lost => said.push(`works: ${lost}`),
    },
    { monotonic: () => state.now },
  )
  const add = (count: number): void => {
    for (let i = 0; i < count; i += 1) queue.add(span(String(i)))
  }
  const under = (count: number) => until(`${count} exports`, () => Promise.resolve(exports[count - 1]))
  return { queue, exports, counts, said, state, add, under }
}

t.test('a batch leaves once there are 128, one after the other; the rest a second later', async t => {
  const { queue, exports, counts, add, under } = queueOf()
  add(127)
  await new Promise(setImmediate)
  t.equal(exports.length, 0)
  add(200)
  t.equal(exports.length, 0, 'not in the turn of a call')
  const first = await under(1)
  t.equal(first.spans.length, 128)
  t.equal(first.spans[0]!.name, '0', 'in their order')
  await new Promise(setImmediate)
  t.equal(exports.length, 1, 'one at a time')
  first.ok()
  const second = await under(2)
  t.equal(second.spans.length, 128)
  second.ok()
  const third = await under(3)
  t.equal(third.spans.length, 71)
  third.ok()
  await queue.close(10_000)
  t.strictSame(counts, { sent: 327, dropped: 0, failed: 0 })
})

t.test('a collector that hangs costs 2 048 spans of memory, and what is dropped is counted', async t => {
  const { queue, exports, counts, said, add, under } = queueOf()
  add(128)
  const first = await under(1)
  add(10_000)
  t.strictSame(counts, { sent: 0, dropped: 10_000 - 2_048, failed: 0 })
  first.fail('no reply in time')
  const second = await under(2)
  t.equal(second.spans.length, 128)
  second.fail('HTTP 503')
  const third = await under(3)
  t.strictSame(said, ['fails: no reply in time'], 'said once')
  third.ok()
  await under(4)
  t.strictSame(said, ['fails: no reply in time', 'works: 256'])
  for (let i = 4; i <= exports.length; i += 1) {
    exports[i - 1]!.ok()
    await new Promise(setImmediate)
  }
  const closing = queue.close(10_000)
  await until('the last has left', () => {
    exports.at(-1)!.ok()
    return Promise.resolve(counts.sent === 2_048 - 128)
  })
  await closing
  t.strictSame(counts, { sent: 2_048 - 128, dropped: 7_952, failed: 256 })
})

t.test('what has not left by the end is lost, and so is all that comes behind it', async t => {
  const { queue, counts, state, add, under } = queueOf()
  add(300)
  const first = await under(1)
  await queue.close(0)
  t.strictSame(counts, { sent: 0, dropped: 172, failed: 128 })
  t.ok(state.destroyed)
  first.ok()
  add(5)
  await new Promise(setImmediate)
  t.strictSame(counts, { sent: 0, dropped: 177, failed: 128 }, 'each is counted once')
})

t.test('the end takes what waits with it at once', async t => {
  const { queue, counts, add, under } = queueOf()
  add(3)
  const closing = queue.close(60_000)
  const last = await under(1)
  add(2)
  last.ok()
  const behind = await under(2)
  t.equal(behind.spans.length, 2, 'also what comes while it leaves')
  behind.ok()
  await closing
  t.strictSame(counts, { sent: 5, dropped: 0, failed: 0 })
})

t.test('bug: exports that fail and work in turn were told of each time', async t => {
  const { said, state, add, under } = queueOf()
  add(6 * 128)
  const failed = async (count: number) => (await under(count)).fail()
  const worked = async (count: number) => (await under(count)).ok()
  await failed(1)
  await worked(2)
  await failed(3)
  await worked(4)
  await under(5)
  t.strictSame(said, ['fails: HTTP 500', 'works: 128'])
  state.now = 60_000
  await failed(5)
  await worked(6)
  await until('both are told', () => Promise.resolve(said.length === 4))
  t.strictSame(said.slice(2), ['fails: HTTP 500', 'works: 128'], 'a minute later')
})

t.test('bug: spans that a collector did not accept were counted as sent', async t => {
  const { queue, counts, said, add, under } = queueOf()
  add(256)
  const first = await under(1)
  first.ok(100)
  const second = await under(2)
  t.strictSame(counts, { sent: 28, dropped: 0, failed: 100 })
  t.strictSame(said, ['fails: it rejects spans'])
  second.ok()
  await queue.close(10_000)
  t.strictSame(counts, { sent: 156, dropped: 0, failed: 100 })
  t.strictSame(said, ['fails: it rejects spans', 'works: 100'])
})
