import t from 'tap'
import { Progress } from '../../src/subscriptions/shared/progress.ts'

t.test('a socket without heads has come as far as its route had when something last came over it', t => {
  const progress = new Progress()
  progress.beat()
  t.equal(progress.reached(), null, 'no probe has been answered yet')
  t.strictSame([progress.look(10), progress.look(8), progress.look(12)], [10, 10, 12], 'never back')
  t.equal(progress.reached(), null)
  progress.beat()
  progress.look(15)
  t.equal(progress.reached(), 12, 'what was probed since says nothing of the socket')
  t.end()
})

t.test('one with heads has come as far as they show, whatever probes say', t => {
  const progress = new Progress()
  progress.enter()
  t.equal(progress.look(10), 10, 'until the first is shown, what was certain when it began')
  t.equal(progress.look(20), 10)
  progress.show(11)
  progress.show(9)
  t.strictSame([progress.look(20), progress.reached()], [11, 11])
  progress.show(40)
  t.equal(progress.reached(), 20, 'a head that no probe has seen may not be the chain’s')
  t.end()
})

t.test('what heads showed counts until the last subscription to them ends', t => {
  const progress = new Progress()
  progress.enter()
  progress.enter()
  progress.show(5)
  progress.leave()
  t.equal(progress.look(9), 5)
  progress.leave()
  t.equal(progress.look(9), 9)
  progress.enter()
  t.equal(progress.look(14), 14)
  t.equal(new Progress().look(0), 0)
  t.end()
})

t.test('how long it has been behind begins anew whenever it catches up', t => {
  const progress = new Progress()
  t.strictSame(
    [
      progress.behindFor(false, 100),
      progress.behindFor(true, 200),
      progress.behindFor(true, 5_200),
      progress.behindFor(false, 5_300),
      progress.behindFor(true, 5_400),
      progress.behindFor(true, 5_401),
    ],
    [0, 0, 5_000, 0, 0, 1],
  )
  t.end()
})
