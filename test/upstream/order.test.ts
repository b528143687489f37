import t from 'tap'
import { Breaker } from '../../src/upstream/breaker.ts'
import { inOrder } from '../../src/upstream/order.ts'

const route = (id: string, priority = 1, weight = 1) => ({
  route: { id, priority, weight, timeout: null },
  live: { breaker: new Breaker(), inFlight: 0 },
})
const ids = (candidates: readonly { route: { id: string } }[]): string =>
  candidates.map(each => each.route.id).join('')

t.test('healthy first, then by priority, and the last route is never shut out', t => {
  const [a, b, c] = [route('a'), route('b', 2), route('c', 2)]
  t.equal(ids(inOrder([b, a, c], 0, () => 0.5)), 'abc')
  for (let i = 0; i < 3; i += 1) a.live.breaker.failed('reset', 0)
  t.equal(ids(inOrder([b, a, c], 0, () => 0.5)), 'bca')
  t.equal(ids(inOrder([a], 0)), 'a')
  t.end()
})

t.test('within a priority each route comes first as often as its weight says', t => {
  let seed = 1
  const random = (): number => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647
  let first = 0
  for (let i = 0; i < 4000; i += 1)
    if (ids(inOrder([route('a', 1, 3), route('b', 1, 1)], 0, random)) === 'ab') first += 1
  t.ok(Math.abs(first / 4000 - 0.75) < 0.03, String(first))
  t.end()
})

t.test('a breaker opens after three failures in a row, and its pause doubles', t => {
  const breaker = new Breaker()
  breaker.failed('reset', 0)
  breaker.failed('reset', 0)
  breaker.succeeded()
  breaker.failed('reset', 0)
  breaker.failed('reset', 0)
  t.ok(breaker.allows(0))
  breaker.failed('timeout', 0)
  t.equal(breaker.lastError, 'timeout')
  t.notOk(breaker.allows(4_999))
  t.ok(breaker.allows(5_000))
  breaker.failed('timeout', 5_000)
  t.notOk(breaker.allows(14_999))
  t.ok(breaker.allows(15_000))
  breaker.succeeded()
  t.ok(breaker.allows(5_000))
  t.equal(breaker.lastError, null)
  t.end()
})
