import t from 'tap'
import { Breaker } from '../../src/upstream/breaker.ts'
import { CoolDown, retryAfterMs } from '../../src/upstream/cool-down.ts'
import { Filters } from '../../src/upstream/filters.ts'
import { identityFault } from '../../src/upstream/identity.ts'
import { Latency } from '../../src/upstream/latency.ts'
import { Outstanding } from '../../src/upstream/outstanding.ts'
import { RetryBudget } from '../../src/upstream/retry-budget.ts'

t.test('three failures in a row open a breaker, and so does a high rate of them', t => {
  const breaker = new Breaker()
  for (const good of [false, false, true, false, false]) {
    if (good) breaker.succeeded()
    else breaker.failed('reset', 0)
  }
  t.equal(breaker.state(0), 'closed')
  breaker.failed('timeout', 0)
  t.strictSame([breaker.state(0), breaker.state(5_000), breaker.lastError], ['open', 'half-open', 'timeout'])
  const shaky = new Breaker()
  for (let i = 0; i < 12 && shaky.state(0) === 'closed'; i += 1) {
    shaky.failed('http_500', 0)
    shaky.failed('http_500', 0)
    if (shaky.state(0) === 'closed') shaky.succeeded()
  }
  t.equal(shaky.state(0), 'open', 'two of three fail')
  t.end()
})

t.test('failures of calls that were under way do not lengthen the pause', t => {
  const breaker = new Breaker()
  for (let i = 0; i < 50; i += 1) breaker.failed('reset', 100)
  t.equal(breaker.state(5_100), 'half-open')
  t.end()
})

t.test('Retry-After in seconds or as a date, bounded', t => {
  t.equal(retryAfterMs('7', 0), 7_000)
  t.equal(retryAfterMs('Thu, 01 Jan 1970 00:00:30 GMT', 10_000), 20_000)
  t.equal(retryAfterMs('soon', 0), 0)
  t.equal(retryAfterMs(null, 0), 0)
  const coolDown = new CoolDown()
  coolDown.begin(3_600_000, 'limited', 0)
  t.strictSame([coolDown.isActive(59_999), coolDown.isActive(60_000)], [true, false])
  coolDown.begin(0, 'limited', 100_000)
  t.strictSame([coolDown.isActive(100_999), coolDown.isActive(101_000)], [true, false])
  t.end()
})

t.test('several calls far older than usual say that a route hangs', t => {
  const outstanding = new Outstanding()
  const calls = [0, 0, 0].map(at => outstanding.begin(at))
  t.notOk(outstanding.isHanging(3_999, 1_000))
  t.ok(outstanding.isHanging(4_000, 1_000))
  t.ok(outstanding.isHanging(1_000, 10), 'never under a second')
  t.notOk(outstanding.isHanging(999, 10))
  outstanding.end(calls[1]!)
  t.notOk(outstanding.isHanging(100_000, 1_000))
  const late = outstanding.begin(100_000)
  t.notOk(outstanding.isHanging(100_500, 10), 'the third is young')
  t.ok(outstanding.isHanging(101_000, 10))
  for (const call of [late, calls[0]!, calls[2]!]) outstanding.end(call)
  t.notOk(outstanding.isHanging(200_000, 10))
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
      budget.call(now)
      if (budget.take(now)) taken += 1
    }
  t.ok(taken <= 2000 * 0.2 + 10 * 10, String(taken))
  t.ok(taken >= 2000 * 0.2, String(taken))
  t.end()
})

t.test('which chain a node serves', t => {
  t.equal(identityFault({ family: 'evm', chainId: 1, genesisHash: null }, '"0x1"'), null)
  t.equal(
    identityFault({ family: 'evm', chainId: 1, genesisHash: null }, '"0x5"'),
    'it serves chain 5, not 1',
  )
  t.equal(identityFault({ family: 'solana', chainId: 'x', genesisHash: 'abc' }, '"abc"'), null)
  t.match(identityFault({ family: 'solana', chainId: 'x', genesisHash: 'abc' }, '"abd"'), /another genesis/)
  t.end()
})

t.test("a filter is its owner's, on its network", t => {
  const filters = new Filters()
  const filter = { owner: 'ep_1', network: 'eth', route: 'a', upstreamId: '"0x1"' }
  const id = filters.add(filter)
  t.match(id, /^"0x[0-9a-f]{32}"$/)
  t.strictSame(filters.find(id, 'ep_1', 'eth'), filter)
  t.equal(filters.find(id, 'ep_2', 'eth'), null)
  t.equal(filters.find(id, 'ep_1', 'bsc'), null)
  filters.remove(id)
  t.equal(filters.find(id, 'ep_1', 'eth'), null)
  t.end()
})
