import t from 'tap'
import { Sent } from '../../src/routes/sent.ts'
import { ShownBlock } from '../../src/routes/shown-block.ts'

const hash = 'ab'.repeat(32)
const one = { network: 'eth', hash, reader: 'r', route: 'a' }

t.test('who took a transaction, and where a reader sent the last one', t => {
  const heard: unknown[] = []
  const sent = new Sent()
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
  t.strictSame(heard, [one, { ...one, hash: 'cd'.repeat(32), route: 'b' }], 'what is new, of this process')
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
