import t from 'tap'
import { Breaker } from '../../src/routes/health/breaker.ts'
import { CallHealth } from '../../src/routes/health/call-health.ts'
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
  const pause = new Pause(() => 0.5)
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

t.test('chance makes a pause up to a fifth longer or shorter, and not the next one', t => {
  const lengths = (drawn: number) => {
    const pause = new Pause(() => drawn)
    let now = 0
    return Array.from({ length: 4 }, () => {
      pause.begin(0, 'limited', now)
      const left = pause.left(now)
      now += left
      return left
    })
  }
  t.strictSame(lengths(0), [800, 1_600, 3_200, 6_400])
  t.strictSame(lengths(1), [1_200, 2_400, 4_800, 9_600])
  const pause = new Pause(() => 1)
  pause.begin(5_000, 'limited', 0)
  t.equal(pause.left(0), 5_000, 'what the upstream asks for counts when it is longer')
  t.equal(pause.length, 1_000)
  pause.begin(0, 'limited', 4_900)
  t.equal(pause.left(4_900), 100, 'calls in flight lengthen nothing')
  pause.begin(7_000, 'limited', 4_900)
  t.equal(pause.left(4_900), 7_000, 'unless they are told to wait longer')
  const billing = new Pause(() => 1)
  billing.begin(0, 'billing', 0)
  t.equal(billing.left(0), 60_000)
  const other = new Pause(() => 0.5)
  other.extend(1_200, 1_000, 'limited', 0)
  other.begin(0, 'limited', 1_200)
  t.equal(other.left(1_200), 2_000, 'nor does the chance of another process')
  t.end()
})

t.test('a complaint pauses a route for its caller, that of a probe for everybody', t => {
  for (const from of ['text', 'status'] as const)
    for (const about of ['limited', 'billing'] as const) {
      const pauses = new RoutePauses()
      const complaint = { about, asked: 0, from }
      const ofEach = (is: 'isActive' | 'isBinding', now: number) =>
        ['a', 'b', 'c', undefined].map(caller => pauses[is](now, caller))
      const isBinding = about === 'limited' && from === 'status'
      for (let i = 0; i < 50; i += 1) pauses.complain(complaint, i, 'a')
      t.strictSame(ofEach('isActive', 50), [true, false, false, false])
      pauses.complain(complaint, 60, 'b')
      t.strictSame(ofEach('isActive', 60), [true, true, false, false], 'two callers speak for themselves')
      t.strictSame(
        ofEach('isBinding', 60),
        [isBinding, isBinding, false, false],
        'HTTP 429 holds for the last route too',
      )
      t.equal(pauses.keptAway(60), 2)
      t.equal(pauses.report(60), null, 'other processes do not stay away')
      pauses.complain(complaint, 70)
      t.strictSame(ofEach('isActive', 70), [true, true, true, true], 'a probe speaks for everybody')
      t.strictSame(ofEach('isBinding', 70), [isBinding, isBinding, isBinding, isBinding])
      t.match(pauses.report(70), { about, drawnBy: [null], isBinding })
      pauses.complain({ ...complaint, from: 'text' }, 100_000, 'a')
      t.strictSame(ofEach('isBinding', 100_000), [false, false, false, false], 'a new pause')
    }
  t.end()
})

t.test('a pause that a status began is passed on for whom it holds; one that a text began is not', t => {
  const [here, there] = [new RoutePauses(null, () => 0.5), new RoutePauses()]
  const passedOn: unknown[] = []
  here.whenBegun(report => {
    passedOn.push(report.drawnBy[0])
    there.takeIn(report, 0)
  })
  const said = { about: 'limited', asked: 0 } as const
  here.complain({ ...said, from: 'text' }, 0, 'a')
  for (let i = 0; i < 10; i += 1) here.complain({ ...said, from: 'status' }, 0, 'b')
  t.strictSame(passedOn, ['b'], 'once')
  const ofEach = (is: 'isActive' | 'isBinding') => ['a', 'b', undefined].map(caller => there[is](0, caller))
  t.strictSame(ofEach('isActive'), [false, true, false])
  t.strictSame(ofEach('isBinding'), [false, true, false])
  here.complain({ ...said, from: 'text' }, 0)
  t.strictSame(passedOn, ['b', null])
  t.strictSame(ofEach('isActive'), [true, true, true])
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

t.test('callers whom a route has answered are judged by their own calls and by probes', t => {
  const latency = new Latency()
  const breaker = new RouteBreaker(latency)
  const answer = (caller: string) => {
    latency.add(10, caller)
    breaker.succeeded(caller)
  }
  answer('known')
  const strangers = (from: number, now: number) => {
    for (let i = from; i < from + 10; i += 1) breaker.failed(`stranger ${i}`, 'http_500', now)
  }
  const states = (now: number) => ['known', 'new', 'stranger 0'].map(caller => breaker.state(now, caller))
  strangers(0, 0)
  t.strictSame(states(0), ['closed', 'open', 'open'], 'ten strangers')
  breaker.notConfirmed(1)
  t.strictSame(states(1), ['closed', 'half-open', 'half-open'])
  breaker.beginTest(1, 'stranger 0')
  strangers(0, 2)
  t.strictSame(states(2), ['closed', 'open', 'open'], 'and the tests that they fail')
  t.notOk(breaker.isConfirmed)
  answer('known')
  t.strictSame(states(3), ['closed', 'closed', 'closed'], 'whom it goes on to answer ends it')
  for (let i = 0; i < 3; i += 1) breaker.failed('known', 'http_500', 4)
  t.equal(breaker.state(4, 'known'), 'open', 'its own calls')

  answer('known')
  breaker.probeFailed('timeout', 5, true)
  t.ok(breaker.isConfirmed)
  t.strictSame(states(5), ['open', 'open', 'open'], 'a probe speaks for everybody')
  breaker.probeSucceeded(6)
  t.strictSame(states(6), ['half-open', 'half-open', 'half-open'], 'as nobody was answered since')
  answer('known')
  t.equal(breaker.state(6, 'new'), 'closed')
  t.end()
})

t.test('a caller whose own calls fail does not test the route for the others', t => {
  const breaker = new RouteBreaker()
  for (const caller of ['a', 'a', 'a', 'b', 'b', 'b']) breaker.failed(caller, 'http_500', 0)
  breaker.notConfirmed(1)
  t.strictSame(
    ['a', 'b', 'c'].map(caller => breaker.state(1, caller)),
    ['open', 'open', 'half-open'],
  )
  t.end()
})

t.test('bug: addresses whose calls fail or hang moved an account that another worker has had answered', t => {
  const breaker = new RouteBreaker()
  const state = (caller: string) => breaker.state(0, caller)
  for (let i = 0; i < 9; i += 1) breaker.failed(`public 192.0.2.${i}`, 'timeout', 0)
  t.strictSame([state('acc_1'), state('public 192.0.2.9')], ['closed', 'open'])
  for (const caller of ['acc_2', 'acc_3', 'acc_4']) breaker.failed(caller, 'timeout', 0)
  t.equal(state('acc_1'), 'open', 'accounts say so too')
  const other = new RouteBreaker()
  for (let i = 0; i < 3; i += 1) other.failed(`public 192.0.2.${i}`, 'timeout', 0)
  other.probeFailed('timeout', 0, true)
  t.equal(other.state(0, 'acc_1'), 'open', 'or a probe')
  const hangs = new HangDetector()
  for (let i = 0; i < 9; i += 1) hangs.begin(0, `public 192.0.2.${i}`)
  const isHanging = (caller: string) => hangs.isHanging(60_000, 10, caller)
  t.strictSame([isHanging('acc_1'), isHanging('public 192.0.2.9')], [false, true])
  for (const caller of ['acc_2', 'acc_3', 'acc_4']) hangs.begin(0, caller)
  t.ok(isHanging('acc_1'))
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
  t.notOk(outstanding.isHanging(101_000, 10, 'a', true), 'not where own calls count alone')
  for (const call of [late, calls[0]!, calls[2]!]) outstanding.end(call)
  t.strictSame(hangs(200_000, 10), [false, false, false])
  t.end()
})

t.test('calls of others that hang have the route probed, and move nobody whom it has answered', t => {
  let probes = 0
  const latency = new Latency()
  const health = new CallHealth(latency, new RouteBreaker(latency), new RoutePauses(), () => (probes += 1))
  latency.add(10, 'known')
  const begun = ['a', 'b', 'b'].map(caller => health.begin(0, caller))
  const hangs = (now: number) => ['a', 'known', 'new', undefined].map(caller => health.isHanging(now, caller))
  t.strictSame(hangs(3_999), [false, false, false, false])
  t.equal(probes, 0)
  t.strictSame(hangs(4_000), [true, false, true, true])
  t.equal(probes, 3, 'whoever asks for a caller')
  t.ok(health.isSuspect(4_000), 'then one failed probe is enough')
  for (const call of begun) health.end(call)
  for (let i = 0; i < 3; i += 1) health.begin(5_000, 'known')
  t.strictSame(hangs(9_000), [false, true, false, false], 'its own calls move it')
  t.end()
})

t.test('quantiles of the last answers', t => {
  const latency = new Latency()
  for (let i = 1; i <= 128; i += 1) latency.add(i)
  t.strictSame([latency.p95, latency.p99], [122, 127])
  t.ok(latency.average > 100 && latency.average < 128)
  t.end()
})

t.test("a caller's slow or quick calls do not count for others", t => {
  const latency = new Latency()
  const add = (caller: string, ms: number, times: number) => {
    for (let i = 0; i < times; i += 1) latency.add(ms, caller)
  }
  t.strictSame([latency.of('a').p95, latency.average], [null, 0])
  add('a', 12, 40)
  add('slow', 900, 150)
  t.strictSame([latency.of('a').p95, latency.of('slow').p95], [12, 900])
  t.ok(Math.abs(latency.of('a').average - 12) < 1)
  t.strictSame(
    [latency.of('new').p95, latency.p95],
    [12, 12],
    'who has made no calls gets the median of the callers',
  )
  add('b', 10, 16)
  add('new', 900, 15)
  t.equal(latency.of('new').p95, 12, 'too few of its own')
  add('new', 900, 1)
  t.equal(latency.of('new').p95, 900)
  t.strictSame(
    ['a', 'new', 'nobody'].map(caller => latency.knows(caller)),
    [true, true, false],
  )
  latency.forget()
  latency.add(12, 'a')
  t.strictSame(
    ['a', 'new'].map(caller => latency.knows(caller)),
    [true, false],
  )
  t.equal(latency.of('new').p95, 900, 'how long answers took stays known')
  t.end()
})

t.test('however many addresses of the public route are answered, an account stays known', t => {
  const latency = new Latency()
  latency.add(1, 'account')
  for (let i = 0; i < 1_000; i += 1) latency.add(1, `public ${i}`)
  t.ok(latency.knows('account'))
  // The newest first: who is looked up counts as seen.
  const known = Array.from({ length: 1_000 }, (_, i) => latency.knows(`public ${999 - i}`))
  t.ok(
    known.slice(0, 64).every(is => is),
    'and the last addresses',
  )
  t.ok(known.filter(is => is).length <= 128)
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
  t.equal(take('third'), 1, 'its first one, in any case')
  t.end()
})

t.test('bug: two addresses of the public route spent the common retries of all', t => {
  const budget = new RetryBudget()
  const take = (caller: string) =>
    Array.from({ length: 100 }, () => budget.take(caller, 0)).filter(taken => taken).length
  const addresses = ['public 192.0.2.1', 'public 192.0.2.2', 'public 192.0.2.3'].map(take)
  t.strictSame(addresses, [3, 2, 0], 'as one account, which they divide')
  t.equal(take('account'), 5)
  t.equal(take('public 192.0.2.4'), 0, 'and no first one of its own')
  t.end()
})

t.test('which chain a node serves', t => {
  t.equal(chainFault({ chainId: 1 }, '"0x1"'), null)
  t.equal(chainFault({ chainId: 1 }, '"0x5"'), 'it serves chain 5, not 1')
  t.equal(genesisFault({ genesisHash: 'abc' }, '"abc"'), null)
  t.match(genesisFault({ genesisHash: 'abc' }, '"abd"'), /another genesis/)
  t.end()
})
