import t from 'tap'
import { refuse } from '../../src/refusal/refusal.ts'
import type { ReplyHead } from '../../src/routes/transport/proxy/proxied-request.ts'
import { failure, type OpenAnswer } from '../../src/routes/transport/verdict.ts'
import { Unsupported } from '../../src/routes/unsupported.ts'

const LIVES = 600_000
const lacking = failure('unsupported', refuse('upstream_error'), false)
const answered = { kind: 'result', result: '1' } as const
const method = 'trace_block'

/** What the route `a` said to a caller. */
const asked = (caller: string, match = method) => ({ route: 'a', method, rule: { match }, caller })

t.test('a route is passed over by the caller that it told, by everybody once it told two', t => {
  const unsupported = new Unsupported()
  const passedOver = (now = 0) =>
    ['one', 'two', undefined].map(caller => unsupported.among(['a', 'b'], method, caller, now))
  t.strictSame(passedOver(), [[], [], []])
  for (let i = 0; i < 5; i += 1) unsupported.take(lacking, asked('one'), 0)
  t.strictSame(passedOver(), [['a'], [], []], 'one caller, however often')
  t.equal(unsupported.lackedBy('a', method, 0), 'one caller')
  unsupported.take(lacking, asked('two'), 0)
  t.strictSame(passedOver(), [['a'], ['a'], ['a']])
  t.equal(unsupported.lackedBy('a', method, 0), 'everybody')
  t.strictSame(unsupported.among(['a', 'b'], 'trace_filter', 'one', 0), [], 'other methods go there')
  t.equal(unsupported.lackedBy('b', method, 0), null)
  t.end()
})

t.test('each answer counts for ten minutes', t => {
  const unsupported = new Unsupported()
  unsupported.take(lacking, asked('one'), 0)
  unsupported.take(lacking, asked('two'), 1_000)
  const passedOver = (now: number) =>
    ['one', 'two', 'three'].filter(caller => unsupported.among(['a'], method, caller, now).length > 0)
  t.strictSame(passedOver(LIVES - 1), ['one', 'two', 'three'])
  t.strictSame(passedOver(LIVES), ['two'], 'what the first drew is over')
  t.strictSame(unsupported.of('a', LIVES), [method])
  t.strictSame(passedOver(LIVES + 1_000), [])
  t.strictSame(unsupported.of('a', LIVES + 1_000), [])
  unsupported.take(lacking, asked('three'), LIVES + 1_000)
  t.strictSame(passedOver(LIVES + 1_000), ['three'], 'and is not added to what comes later')
  t.end()
})

t.test('an answer shows that a route has the method; an error does not', t => {
  const after = (...[verdict]: Parameters<Unsupported['take']>): boolean => {
    const unsupported = new Unsupported()
    unsupported.take(lacking, asked('one'), 0)
    unsupported.take(verdict, asked('two'), 0)
    return unsupported.among(['a'], method, 'one', 0).length > 0
  }
  const open = (member: OpenAnswer['member']) => ({ kind: 'open', member }) as OpenAnswer
  const head = (status: number) => ({ kind: 'head', status }) as ReplyHead
  const found = {
    result: after(answered, asked('two'), 0),
    'a long result': after(open('result'), asked('two'), 0),
    'a long error': after(open('error'), asked('two'), 0),
    error: after({ kind: 'error', error: '{}', code: -32602, message: '' }, asked('two'), 0),
    timeout: after(failure('timeout', refuse('upstream_timeout'), true), asked('two'), 0),
    'HTTP 200': after(head(200), asked('two'), 0),
    'HTTP 404': after(head(404), asked('two'), 0),
  }
  t.strictSame(found, {
    ...{ result: false, 'a long result': false, 'a long error': true, error: true, timeout: true },
    ...{ 'HTTP 200': false, 'HTTP 404': true },
  })
  t.end()
})

t.test('of methods that only a pattern covers nothing is kept, and a reload forgets all', t => {
  const unsupported = new Unsupported()
  unsupported.take(lacking, asked('one', 'trace_*'), 0)
  t.strictSame(unsupported.of('a', 0), [])
  unsupported.take(lacking, { ...asked('one'), method: 'b' }, 0)
  unsupported.take(lacking, { ...asked('one'), method: 'a' }, 0)
  t.strictSame(unsupported.of('a', 0), ['a', 'b'])
  unsupported.clear()
  t.strictSame(unsupported.of('a', 0), [])
  t.end()
})
