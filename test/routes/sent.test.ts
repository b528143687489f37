import t from 'tap'
import { Sent } from '../../src/routes/sent.ts'
import { ShownBlock } from '../../src/routes/shown-block.ts'
import { TestClock } from '../support/test-clock.ts'

const hash = 'ab'.repeat(32)
const one = { network: 'eth', hash, reader: 'r', holder: 'acc_1', route: 'a', isProven: true }

t.test('who took a transaction, and where a reader sent the last one', t => {
  const heard: unknown[] = []
  const clock = new TestClock()
  const sent = new Sent(clock)
  sent.whenTaken(news => heard.push(news))
  t.notOk(sent.any('eth'), 'nothing is made of a network without any')
  t.strictSame([sent.takers('eth', hash), sent.lastOf('eth', 'r')], [[], []])
  sent.add(one)
  sent.add(one)
  sent.takeIn({ ...one, route: 'b' })
  sent.add({ ...one, hash: 'cd'.repeat(32), route: 'b' })
  t.ok(sent.any('eth'))
  t.notOk(sent.any('bsc'))
  t.strictSame(sent.takers('eth', hash), ['a', 'b'], 'the first to take it first')
  t.strictSame(sent.lastOf('eth', 'r'), ['b'])
  t.strictSame(sent.lastOf('eth', 'another'), [])
  sent.add({ ...one, route: 'c' })
  t.strictSame(sent.takers('eth', hash), ['a', 'b', 'c'])
  t.strictSame(sent.lastOf('eth', 'r'), ['b'], 'one that is late may not know what was sent since')
  t.strictSame(
    heard.slice(0, 2),
    [one, { ...one, hash: 'cd'.repeat(32), route: 'b' }],
    'what is new, of this process',
  )
  clock.advance(59_999)
  t.strictSame([sent.takers('eth', hash), sent.lastOf('eth', 'r')], [['a', 'b', 'c'], ['b']])
  clock.advance(1)
  t.strictSame([sent.takers('eth', hash), sent.lastOf('eth', 'r')], [[], []], 'for a minute')
  t.end()
})

t.test('bug: one account that sends 20 000 transactions makes those of others forgotten', t => {
  const sent = new Sent(new TestClock())
  const send = (n: number, holder: string, reader = holder) => {
    const digits = n.toString(16).padStart(64, '0')
    sent.add({ network: 'eth', hash: digits, reader, holder, route: 'a' })
    return () => sent.takers('eth', digits).length + sent.lastOf('eth', reader).length
  }
  const mine = [send(1, 'acc_1'), send(2, 'public 10.0.0.1')]
  // Addresses of the public route are as many as somebody likes, and an account has several endpoints.
  for (let n = 100; n < 40_100; n += 1) {
    send(n, 'acc_2', `ep_${n % 20}`)
    send(n + 100_000, 'public 10.0.0.2')
  }
  const later = [send(3, 'acc_3'), send(4, 'public 10.0.0.3')]
  t.strictSame(
    [...mine, ...later].map(known => known()),
    [2, 2, 2, 2],
  )
  const newest = (40_099).toString(16).padStart(64, '0')
  t.strictSame(sent.takers('eth', newest), ['a'], 'of its own the newest are kept')
  t.end()
})

t.test('bug: a node that claimed the transaction of another caller was believed not to find it', t => {
  const claim = { ...one, reader: 'liar', holder: 'acc_2', route: 'liar', isProven: false }
  const after = new Sent(new TestClock())
  after.add({ ...one, isProven: false })
  after.add(claim)
  t.strictSame([after.takers('eth', hash), after.lastOf('eth', 'liar')], [['a'], []])
  const before = new Sent(new TestClock())
  const heard: unknown[] = []
  before.whenTaken(news => heard.push(news))
  before.add(claim)
  before.add({ ...one, isProven: false }, () => true)
  before.add({ ...one, route: 'b', isProven: false }, () => true)
  t.strictSame(
    [before.takers('eth', hash), before.lastOf('eth', 'r')],
    [
      ['a', 'b'],
      ['a', 'b'],
    ],
  )
  t.strictSame(heard.slice(1), [one, { ...one, route: 'b' }], 'others hear that it is certain')
  t.end()
})

t.test('bug: who sent what another reader had sent before was not known to have sent anything', t => {
  const clock = new TestClock()
  const [sent, other] = [new Sent(clock), new Sent(clock)]
  sent.whenTaken(news => {
    other.takeIn(news)
  })
  sent.add(one)
  clock.advance(1_000)
  const again = { ...one, reader: 'again', holder: 'acc_2' }
  sent.add(again)
  for (const each of [sent, other])
    t.strictSame(
      [each.lastOf('eth', 'again'), each.lastAt('eth', 'again'), each.lastAt('eth', 'r')],
      [['a'], clock.monotonic(), clock.monotonic() - 1_000],
    )
  sent.add({ ...again, hash: 'cd'.repeat(32), route: 'b' })
  sent.add({ ...again, route: 'c' })
  sent.add(again)
  t.strictSame(sent.lastOf('eth', 'again'), ['b'], 'it does not become the last one again')
  sent.add({ ...one, reader: 'third', route: 'c' })
  t.strictSame(sent.lastOf('eth', 'third'), ['a', 'c'])
  t.end()
})

t.test('a route has come to the newest block that it has shown, for ten seconds', t => {
  const shown = new ShownBlock()
  t.notOk(shown.hasReached(0, 0))
  shown.show(7, 0)
  shown.show(5, 1_000)
  t.strictSame([shown.hasReached(7, 9_999), shown.hasReached(8, 0)], [true, false])
  t.notOk(shown.hasReached(7, 10_000))
  shown.show(3, 10_000)
  t.strictSame(
    [shown.hasReached(3, 10_000), shown.hasReached(7, 10_000)],
    [true, false],
    'a chain may begin anew',
  )
  t.end()
})
