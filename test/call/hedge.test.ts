import { Readable } from 'node:stream'
import t from 'tap'
import type { Context } from '../../src/call/context.ts'
import { hedged } from '../../src/call/node/hedge.ts'
import type { Request } from '../../src/call/node/request.ts'
import type { Departure } from '../../src/net/departure.ts'
import type { Candidate } from '../../src/routes/pick.ts'
import { TestClock } from '../support/test-clock.ts'
import { StreamedBody } from '../../src/routes/transport/streamed-body.ts'
import type { OpenAnswer, Verdict } from '../../src/routes/transport/verdict.ts'

const rule = { hedge: true, retry: 'safe', timeout: 'normal', block: null, match: 'eth_getCode' }
const request = {
  network: { slug: 'alpha', family: 'evm', hedge: true },
  row: { rule },
  method: 'eth_getCode',
  params: '[]',
  caller: 'a',
  routes: [],
  takers: [],
  span: null,
  need: {},
  trace: null,
} as unknown as Request
const clock = new TestClock()
const context = {
  live: {
    observer: { attempt: () => undefined },
    upstreams: { unsupported: { take: () => undefined } },
    clock,
  },
  payer: null,
} as unknown as Context

/** Milliseconds within which the first route answers 95 calls in 100. */
const P95 = 40

/** A route whose one answer is given by `answer`. */
function route(id: string) {
  let resolve: (verdict: Verdict) => void = () => undefined
  const promise = new Promise<Verdict>(done => (resolve = done))
  let departure: Departure | undefined
  const live = {
    latency: { of: () => ({ p95: P95 }) },
    ask: (_: unknown, limits: { departure: Departure }) => {
      departure = limits.departure
      return promise
    },
  }
  const candidate = { route: { id, timeout: null, errors: [] }, live } as unknown as Candidate
  return { candidate, answer: resolve, isCut: () => departure?.isOver === true }
}

/** A long reply that has not ended, and what it is read from. */
function open(): { readonly answer: OpenAnswer; readonly source: Readable } {
  const source = new Readable({ read: () => undefined })
  return {
    answer: { kind: 'open', member: 'result', body: new StreamedBody(source, { pieces: () => source }) },
    source,
  }
}
const options = {
  kind: 'first' as const,
  left: 1_000,
  mode: { stream: true, maxBytes: null, holder: null, cached: null, gather: null },
  sentBefore: false,
  departure: null,
}

t.test('of two long replies that begin together, the one that is not used is cut', async t => {
  const [a, b] = [route('a'), route('b')]
  const replies = [open(), open()] as const
  const another = () => {
    b.answer(replies[1].answer)
    a.answer(replies[0].answer)
    return b.candidate
  }
  const ended = hedged(a.candidate, request, options, context, another)
  clock.advance(P95)
  const { verdict } = await ended
  const used = replies.find(({ answer }) => answer === verdict)!
  const other = replies.find(({ answer }) => answer !== verdict)!
  t.strictSame([used.source.destroyed, other.source.destroyed], [false, true])
})

t.test('a try that has not answered yet is cut', async t => {
  const [a, b] = [route('a'), route('b')]
  const reply: Verdict = { kind: 'result', result: '1' }
  const another = () => {
    b.answer(reply)
    return b.candidate
  }
  const ended = hedged(a.candidate, request, options, context, another)
  clock.advance(P95)
  const { verdict } = await ended
  t.same(verdict, reply)
  t.strictSame([a.isCut(), b.isCut()], [true, false])
})

t.test('a try that is as fast as usual stays alone', async t => {
  const a = route('a')
  const another = () => t.fail('a second route was asked') as never
  const ended = hedged(a.candidate, request, options, context, another)
  clock.advance(P95 - 1)
  a.answer({ kind: 'result', result: '1' })
  t.match(await ended, { verdict: { result: '1' }, candidate: { route: { id: 'a' } } })
  t.equal(clock.waiting, 0, 'nothing waits for a slow answer any more')
  clock.advance(P95)
  t.notOk(a.isCut())
})
