import t from 'tap'
import { Breaker } from '../../src/routes/health/breaker.ts'
import { RouteBreaker } from '../../src/routes/health/route-breaker.ts'
import { chainFault } from '../../src/families/evm/probe.ts'
import { genesisFault } from '../../src/families/solana/probe.ts'
import { Latency, HangDetector } from '../../src/routes/health/load.ts'
import { Pause, retryAfterMs, RoutePauses } from '../../src/routes/health/route-pauses.ts'
import { RetryBudget } from '../../src/routes/retry-budget.ts'

t.test('three failures in a row open a breaker, and so does a high rate of them', t => {
  const breaker = new Breaker()
  for (const good of [false, false, true, false, false]) {
    if (good) breaker.succeeded()
    else breaker.failed(0)
  }
  t.equal(breaker.state(0), 'closed')
  breaker.failed(0)
  t.strictSame([breaker.state(0), breaker.state(5_000)], ['open', 'half-open'])
  const shaky = new Breaker()
  for (let i = 0; i < 12 && shaky.state(0) === 'closed'; i += 1) {
    shaky.failed(0)
    shaky.failed(0)
    if (shaky.state(0) === 'closed') shaky.succeeded()
  }
  t.equal(shaky.state(0), 'open', 'two of three fail')
  t.end()
})

t.test('bug: a route whose pause was over counted as up though nothing had succeeded', t => {
  const breaker = new RouteBreaker()
  t.notOk(breaker.isUntested(0), 'a new one is closed')
  for (let i = 0; i < 3; i += 1) breaker.probeFailed('reset', 0, false)
  t.strictSame([breaker.state(0), breaker.isUntested(0)], ['open', false])
  t.strictSame([breaker.state(5_000), breaker.isUntested(5_000)], ['half-open', true])
  breaker.probeFailed('reset', 5_000, false)
  t.strictSame([breaker.state(15_000), breaker.isUntested(15_000)], ['half-open', true], 'still not')
  breaker.probeSucceeded(15_000)
  t.notOk(breaker.isUntested(15_000))
  for (const caller of ['a', 'b', 'c']) for (let i = 0; i < 3; i += 1) breaker.failed(caller, 'reset', 20_000)
  t.ok(breaker.isUntested(25_000))
  breaker.probeSucceeded(25_000)
  t.notOk(breaker.isUntested(25_000), 'a probe that is answered vouches for it')
  breaker.failed('a', 'reset', 25_000)
  t.ok(breaker.isUntested(60_000), 'until the next failure')
  breaker.succeeded('a')
  t.notOk(breaker.isUntested(60_000))
  t.end()
})

t.test('failures of calls that were under way do not lengthen the pause', t => {
  const breaker = new Breaker()
  for (let i = 0; i < 50; i += 1) breaker.failed(100)
  t.equal(breaker.state(5_100), 'half-open')
  t.end()
})

t.test('Retry-After in seconds or as a date, bounded', t => {
  t.equal(retryAfterMs('7', 0), 7_000)
  t.equal(retryAfterMs('Thu, 01 Jan 1970 00:00:30 GMT', 10_000), 20_000)
  t.equal(retryAfterMs('soon', 0), 0)
  t.equal(retryAfterMs(null, 0), 0)
  const pause = new Pause()
  pause.begin(3_600_000, 'limited', 0)
  t.strictSame([pause.isActive(59_999), pause.isActive(60_000)], [true, false])
  t.end()
})

t.test('a pause grows from 1 to 60 s, and is short again after a quiet minute', t => {
  const pause = new Pause()
  const lengths: number[] = []
  let now = 0
  for (let i = 0; i < 8; i += 1) {
    pause.begin(0, 'limited', now)
    // What was in flight complains as well.
    pause.begin(0, 'limited', now + 1)
    lengths.push(Math.round(pause.left(now) / 1000))
    now += pause.left(now)
  }
  t.strictSame(lengths, [1, 2, 4, 8, 16, 32, 60, 60])
  now += 59_999
  pause.begin(0, 'limited', now)
  t.equal(pause.left(now), 60_000, 'not a minute yet')
  now += 120_000
  pause.begin(0, 'limited', now)
  t.equal(pause.left(now), 1_000)
  pause.begin(0, 'billing', now + 1_000)
  t.equal(pause.left(now + 1_000), 60_000, 'about the key or plan')
  t.end()
})

t.test('a complaint read from a text pauses a route for its caller, of two callers for everybody', t => {
  const pauses = new RoutePauses()
  const text = { about: 'limited', asked: 0, from: 'text' } as const
  for (let i = 0; i < 50; i += 1) pauses.complain(text, i, 'a')
  t.strictSame(
    ['a', 'b', undefined].map(caller => pauses.isActive(50, caller)),
    [true, false, false],
  )
  pauses.complain(text, 60, 'b')
  t.ok(pauses.isActive(60, 'c'), 'two callers say so')
  t.notOk(pauses.isBinding(60), 'and still the last route may be asked')
  const status = new RoutePauses()
  status.complain({ ...text, from: 'status' }, 0, 'a')
  t.ok(status.isActive(0, 'b'), 'HTTP 429 is for everybody')
  t.strictSame(
    [status.isBinding(0, 'a'), status.isBinding(0, 'b'), status.isBinding(0)],
    [true, false, false],
    'but others may ask the last route',
  )
  status.complain({ ...text, from: 'status' }, 10, 'b')
  t.ok(status.isBinding(10, 'c'), 'until a second caller draws one')
  status.complain({ ...text, from: 'status' }, 100_000, 'a')
  t.strictSame([status.isBinding(100_000, 'a'), status.isBinding(100_000, 'b')], [true, false], 'a new pause')
  const probedStatus = new RoutePauses()
  probedStatus.complain({ ...text, from: 'status' }, 0)
  t.ok(probedStatus.isBinding(0, 'b'), 'or a probe')
  const billing = new RoutePauses()
  billing.complain({ about: 'billing', asked: 0, from: 'status' }, 0, 'a')
  t.strictSame([billing.isActive(59_999, 'b'), billing.isBinding(0)], [true, false])
  const probed = new RoutePauses()
  probed.complain(text, 0)
  t.ok(probed.isActive(0, 'b'), 'a probe of ours says so')
  const apart = new RoutePauses()
  apart.complain(text, 0, 'a')
  apart.complain(text, 5_000, 'b')
  t.notOk(apart.isActive(5_000, 'c'), 'not within the pause')
  t.end()
})

t.test('failures of one caller open its own breaker, of two callers the one for everybody', t => {
  const breaker = new RouteBreaker()
  const fail = (caller: string, times = 3) =>
    Array.from({ length: times }, () => breaker.failed(caller, 'timeout', 0))
  t.strictSame(fail('a'), [null, null, 'for the caller'])
  fail('a', 100)
  t.strictSame([breaker.state(0, 'a'), breaker.state(0, 'b'), breaker.state(0)], ['open', 'closed', 'closed'])
  t.equal(breaker.keptAway(0), 1)
  t.equal(breaker.lastError, 'timeout')
  t.strictSame(fail('b'), [null, null, 'for everybody'])
  t.equal(breaker.state(0, 'c'), 'open')
  const many = new RouteBreaker()
  for (const caller of ['a', 'b']) many.failed(caller, 'reset', 0)
  t.equal(many.state(0), 'closed')
  many.succeeded('x')
  for (const caller of ['a', 'b', 'c']) many.failed(caller, 'reset', 0)
  t.equal(many.state(0), 'open', 'three callers one behind the other')
  t.end()
})

t.test('one failed probe says the same as the calls of one caller; one answered makes it half-open', t => {
  const breaker = new RouteBreaker()
  for (let i = 0; i < 3; i += 1) breaker.failed('a', 'timeout', 0)
  breaker.notConfirmed(1)
  t.equal(breaker.state(1, 'a'), 'open', 'still the word of its own calls')
  breaker.probeFailed('timeout', 2, false)
  t.equal(breaker.state(2), 'open')
  t.equal(breaker.retryIn(2), 5_000)
  breaker.probeSucceeded(100)
  t.strictSame([breaker.state(100), breaker.state(100, 'a')], ['half-open', 'half-open'])
  breaker.beginTest(100, 'b')
  t.equal(breaker.state(100), 'open', 'one call at a time')
  breaker.failed('b', 'reset', 101)
  t.equal(breaker.retryIn(101), 10_000, 'the pause doubles')
  breaker.probeSucceeded(102)
  breaker.probeSucceeded(103)
  t.strictSame(
    [breaker.state(103), breaker.lastError],
    ['closed', null],
    'probes failed too, and are well again',
  )
  const hanging = new RouteBreaker()
  hanging.probeFailed('timeout', 0, true)
  t.equal(hanging.state(0), 'open', 'calls that hang say the same')
  const idle = new RouteBreaker()
  idle.probeFailed('timeout', 0, false)
  idle.probeFailed('timeout', 0, false)
  t.equal(idle.state(0), 'closed')
  idle.probeFailed('timeout', 0, false)
  t.equal(idle.state(0), 'open', 'three probes by themselves')
  t.end()
})

t.test('what two callers say is tested at once, unless such a test has failed', t => {
  const breaker = new RouteBreaker()
  for (const caller of ['a', 'a', 'a', 'b', 'b', 'b']) breaker.failed(caller, 'http_500', 0)
  breaker.notConfirmed(1)
  t.equal(breaker.state(1, 'c'), 'half-open')
  breaker.beginTest(1, 'c')
  breaker.failed('c', 'http_500', 2)
  breaker.notConfirmed(3)
  t.equal(breaker.state(3, 'd'), 'open', 'probes do not see what calls see')
  breaker.probeSucceeded(4)
  breaker.probeSucceeded(5)
  t.equal(breaker.state(5, 'd'), 'half-open', 'only a call closes it')
  breaker.succeeded('d')
  t.equal(breaker.state(5, 'd'), 'closed')
  t.end()
})

t.test('several calls far older than usual say that a route hangs', t => {
  const outstanding = new HangDetector()
  const hangs = (now: number, p99: number) =>
    ['a', 'b', undefined].map(caller => outstanding.isHanging(now, p99, caller))
  const calls = [0, 0, 0].map(at => outstanding.begin(at, 'a'))
  t.strictSame(hangs(3_999, 1_000), [false, false, false])
  t.strictSame(hangs(4_000, 1_000), [true, false, false], 'for the caller')
  t.ok(outstanding.isSuspect(4_000, 1_000))
  t.strictSame(hangs(1_000, 10), [true, false, false], 'never under a second')
  t.strictSame(hangs(999, 10), [false, false, false])
  outstanding.end(calls[1]!)
  t.strictSame(hangs(100_000, 1_000), [false, false, false])
  const late = outstanding.begin(100_000, 'b')
  t.strictSame(hangs(100_500, 10), [false, false, false], 'the third is young')
  t.strictSame(hangs(101_000, 10), [true, true, true], 'two callers say so for everybody')
  for (const call of [late, calls[0]!, calls[2]!]) outstanding.end(call)
  t.strictSame(hangs(200_000, 10), [false, false, false])
  t.end()
})

t.test('quantiles of the last answers', t => {
  const latency = new Latency()
  for (let i = 1; i <= 128; i += 1) latency.add(i)
  t.strictSame([latency.p95, latency.p99], [122, 127])
  t.ok(latency.average > 100 && latency.average < 128)
  t.end()
})

t.test('retries keep within a fifth of the calls and ten a second', t => {
  const budget = new RetryBudget()
  let taken = 0
  for (let second = 0; second < 10; second += 1)
    for (let call = 0; call < 200; call += 1) {
      const now = second * 1000 + call * 5
      budget.call('a', now)
      if (budget.take('a', now)) taken += 1
    }
  t.ok(taken <= 2000 * 0.2 + 10 * 10, String(taken))
  t.ok(taken >= 2000 * 0.2, String(taken))
  t.end()
})

t.test('one caller spends half of the common retries at most', t => {
  const budget = new RetryBudget()
  const take = (caller: string) =>
    Array.from({ length: 100 }, () => budget.take(caller, 0)).filter(taken => taken).length
  for (let call = 0; call < 50; call += 1) budget.call('quiet', 0)
  t.equal(take('greedy'), 5)
  t.equal(take('quiet'), 15, 'a fifth of its own calls, and what is left')
  t.equal(take('third'), 0)
  t.end()
})

t.test('which chain a node serves', t => {
  t.equal(chainFault({ chainId: 1 }, '"0x1"'), null)
  t.equal(chainFault({ chainId: 1 }, '"0x5"'), 'it serves chain 5, not 1')
  t.equal(genesisFault({ genesisHash: 'abc' }, '"abc"'), null)
  t.match(genesisFault({ genesisHash: 'abc' }, '"abd"'), /another genesis/)
  t.end()
})
