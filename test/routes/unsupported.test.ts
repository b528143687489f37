import t from 'tap'
import { refuse } from '../../src/refusal/refusal.ts'
import type { ReplyHead } from '../../src/routes/transport/proxy/proxied-request.ts'
import { failure, type OpenAnswer } from '../../src/routes/transport/verdict.ts'
import { Unsupported } from '../../src/routes/unsupported.ts'
import type { Rule } from '../../src/snapshot/types.ts'

const LIVES = 600_000
const lacking = failure('unsupported', refuse('upstream_error'), false)
const answered = { kind: 'result', result: '1' } as const
const method = 'trace_block'

/** What probes find, one after the other; undefined behind the last: the node does not say. */
function probes(...found: readonly (true | null | undefined)[]) {
  const left = [...found]
  let count = 0
  const lacks = () => {
    count += 1
    return Promise.resolve(left.shift())
  }
  return { lacks, count: () => count }
}

/** A call of a caller to the route `a`. */
const sent = (caller: string, live = probes(), match = method) => ({
  route: { id: 'a', errors: [] },
  live,
  method: match.endsWith('*') ? method : match,
  caller,
  rule: { match } as Rule,
})
/** Probes have been answered. */
const settled = () => new Promise(setImmediate)

t.test(
  'a caller passes over a route that it was told by, everybody once a probe was told so too',
  async t => {
    const unsupported = new Unsupported()
    const passedOver = (now = 0) =>
      ['one', 'two', undefined].map(caller => unsupported.among(['a', 'b'], method, caller, now))
    t.strictSame(passedOver(), [[], [], []])
    const live = probes(null, true)
    for (const caller of ['one', 'one', 'two', 'two']) unsupported.take(lacking, sent(caller, live), 0)
    await settled()
    t.equal(live.count(), 1)
    t.strictSame(passedOver(), [['a'], ['a'], []], 'the params of two callers, and not of the probe')
    t.equal(unsupported.lackedBy('a', method, 0), 'one caller')
    unsupported.take(lacking, sent('one', live), 4_999)
    await settled()
    t.equal(live.count(), 1, 'a moment ago it was probed')
    unsupported.take(lacking, sent('one', live), 5_000)
    await settled()
    t.strictSame(passedOver(5_000), [['a'], ['a'], ['a']])
    t.equal(unsupported.lackedBy('a', method, 5_000), 'everybody')
    t.strictSame(unsupported.among(['a', 'b'], 'trace_filter', 'one', 0), [], 'other methods go there')
    t.equal(unsupported.lackedBy('b', method, 0), null)
  },
)

t.test('what holds for everybody is probed again while calls pass over the route', async t => {
  const unsupported = new Unsupported()
  const live = probes(true, undefined, true, null)
  unsupported.take(lacking, sent('one', live), 0)
  await settled()
  const isPassedOver = (now: number) => unsupported.among(['a'], method, 'two', now).length > 0
  t.ok(isPassedOver(4_999))
  t.equal(live.count(), 1)
  for (const [i, now] of [5_000, 10_000, 15_000].entries()) {
    for (let calls = 0; calls < 3; calls += 1) t.ok(isPassedOver(now))
    await settled()
    t.equal(live.count(), i + 2, 'once in five seconds')
  }
  t.notOk(isPassedOver(15_000), 'the route has the method by now')
  t.equal(live.count(), 4)
})

t.test('a probe that nothing repeats counts for ten minutes', async t => {
  const unsupported = new Unsupported()
  unsupported.take(lacking, sent('one', probes(true)), 0)
  await settled()
  t.equal(unsupported.lackedBy('a', method, LIVES - 1), 'everybody')
  t.equal(unsupported.lackedBy('a', method, LIVES), null)
})

t.test('each answer counts for ten minutes for its caller', t => {
  const unsupported = new Unsupported()
  unsupported.take(lacking, sent('one'), 0)
  unsupported.take(lacking, sent('two'), 1_000)
  const passedOver = (now: number) =>
    ['one', 'two', 'three'].filter(caller => unsupported.among(['a'], method, caller, now).length > 0)
  t.strictSame(passedOver(LIVES - 1), ['one', 'two'])
  t.strictSame(passedOver(LIVES), ['two'], 'what the first drew is over')
  t.strictSame(unsupported.of('a', LIVES), [method])
  t.strictSame(passedOver(LIVES + 1_000), [])
  t.strictSame(unsupported.of('a', LIVES + 1_000), [])
  unsupported.take(lacking, sent('three'), LIVES + 1_000)
  t.strictSame(passedOver(LIVES + 1_000), ['three'], 'and is not added to what comes later')
  t.end()
})

t.test('so many callers are remembered of a method, the oldest makes room', t => {
  const unsupported = new Unsupported()
  for (let i = 0; i < 257; i += 1) unsupported.take(lacking, sent(`caller ${i}`), 0)
  const isPassedOver = (i: number) => unsupported.among(['a'], method, `caller ${i}`, 0).length > 0
  t.strictSame([0, 1, 256].map(isPassedOver), [false, true, true])
  t.end()
})

t.test('an answer shows its caller that a route has the method; an error does not', t => {
  const after = (...[verdict]: Parameters<Unsupported['take']>): boolean => {
    const unsupported = new Unsupported()
    unsupported.take(lacking, sent('one'), 0)
    unsupported.take(verdict, sent('one'), 0)
    return unsupported.among(['a'], method, 'one', 0).length > 0
  }
  const open = (member: OpenAnswer['member']) => ({ kind: 'open', member }) as OpenAnswer
  const head = (status: number) => ({ kind: 'head', status }) as ReplyHead
  const found = {
    result: after(answered, sent('two'), 0),
    'a long result': after(open('result'), sent('two'), 0),
    'a long error': after(open('error'), sent('two'), 0),
    error: after({ kind: 'error', error: '{}', code: -32602, message: '' }, sent('two'), 0),
    timeout: after(failure('timeout', refuse('upstream_timeout'), true), sent('two'), 0),
    'HTTP 200': after(head(200), sent('two'), 0),
    'HTTP 404': after(head(404), sent('two'), 0),
  }
  t.strictSame(found, {
    result: false,
    'a long result': false,
    'a long error': true,
    error: true,
    timeout: true,
    'HTTP 200': false,
    'HTTP 404': true,
  })
  t.end()
})

t.test(
  'bug: a result of one caller had all callers try a route that lacks the method, and probe it, again',
  async t => {
    const unsupported = new Unsupported()
    const live = probes(null, null, true)
    const isPassedOver = (caller: string, now: number) =>
      unsupported.among(['a'], method, caller, now).length > 0
    for (let now = 0; now < 4_900; now += 100) {
      unsupported.take(lacking, sent('one', live), now)
      unsupported.take(lacking, sent('two', live), now)
      unsupported.take(answered, sent('two', live), now)
      await settled()
      t.ok(isPassedOver('one', now))
    }
    t.equal(live.count(), 1)
    unsupported.take(answered, sent('two', live), 5_000)
    await settled()
    t.notOk(isPassedOver('one', 5_000), 'a probe that finds the method sends everybody there again')
    unsupported.take(lacking, sent('one', live), 10_000)
    await settled()
    t.ok(isPassedOver('three', 10_000), 'and one that does not nobody but who was answered')
    t.notOk(isPassedOver('two', 10_000))
    t.equal(live.count(), 3)
  },
)

t.test('of methods that only a pattern covers nothing is kept, and a reload forgets all', t => {
  const unsupported = new Unsupported()
  const live = probes()
  unsupported.take(lacking, sent('one', live, 'trace_*'), 0)
  t.strictSame(unsupported.of('a', 0), [])
  t.equal(live.count(), 0)
  unsupported.take(lacking, sent('one', live, 'b'), 0)
  unsupported.take(lacking, sent('one', live, 'a'), 0)
  t.strictSame(unsupported.of('a', 0), ['a', 'b'])
  unsupported.clear()
  t.strictSame(unsupported.of('a', 0), [])
  t.end()
})
