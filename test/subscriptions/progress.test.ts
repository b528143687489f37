import t from 'tap'
import { Progress } from '../../src/subscriptions/shared/progress.ts'

t.test('a socket without heads has come as far as its route', t => {
  const progress = new Progress()
  t.equal(progress.reached(null), null)
  t.equal(progress.reached(7), 7)
  t.strictSame([progress.look(10), progress.look(8), progress.look(12)], [10, 10, 12], 'never back')
  t.equal(progress.reached(null), 12)
  t.equal(progress.reached(15), 15)
  t.end()
})

t.test('one with heads has come as far as they show, whatever probes say', t => {
  const progress = new Progress()
  progress.enter()
  t.equal(progress.look(10), 10, 'until the first is shown, what was certain when it began')
  t.equal(progress.look(20), 10)
  progress.show(11)
  progress.show(9)
  t.strictSame([progress.look(20), progress.reached(30), progress.reached(null)], [11, 11, 11])
  progress.show(40)
  t.equal(progress.reached(null), 20, 'a head that no probe has seen may not be the chain’s')
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
