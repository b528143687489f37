import t from 'tap'
import { FairQueue, type Turn } from '../../src/routes/transport/fair-queue.ts'

/** A queue, and the names of what it let begin, in order. */
function queue(most: number) {
  const fair = new FairQueue(most)
  const begun: string[] = []
  const enter = (caller: string | undefined, name: string): Turn => {
    const turn: Turn = { caller, isWanted: true, begin: () => begun.push(name), state: 'waiting' }
    fair.enter(turn)
    return turn
  }
  return { fair, begun, enter }
}

t.test('a caller that wants all leaves room for the others', t => {
  const { begun, enter } = queue(33)
  for (let i = 0; i < 100; i += 1) enter('a', `a${i}`)
  t.equal(begun.length, 19)
  enter('b', 'b0')
  t.equal(begun.at(-1), 'b0', 'another one begins at once')
  enter(undefined, 'own')
  t.equal(begun.at(-1), 'own')
  t.end()
})

t.test('who has the fewest calls is next, each caller in its own order', t => {
  const { fair, begun, enter } = queue(2)
  const first = [enter('a', 'a0'), enter('a', 'a1')]
  for (const name of ['a2', 'a3', 'b0', 'b1', 'c0']) enter(name[0], name)
  t.strictSame(begun, ['a0', 'a1'], 'a small number of connections is not divided')
  fair.leave(first[0]!)
  fair.leave(first[1]!)
  t.strictSame(begun, ['a0', 'a1', 'b0', 'a2'])
  t.end()
})

t.test('a turn that is over before it began is passed over, and gives nothing back', t => {
  const { fair, begun, enter } = queue(1)
  const running = enter('a', 'a0')
  const [given, kept] = [enter('b', 'b0'), enter('b', 'b1')]
  const lone = enter('c', 'c0')
  fair.leave(given)
  fair.leave(lone)
  fair.leave(given)
  t.strictSame(begun, ['a0'])
  fair.leave(running)
  t.strictSame(begun, ['a0', 'b1'])
  fair.leave(kept)
  fair.leave(kept)
  enter('d', 'd0')
  enter('d', 'd1')
  t.strictSame(begun, ['a0', 'b1', 'd0'], 'one connection is one connection')
  t.end()
})

t.test('thousands that end while they wait cost the next one nothing', t => {
  const { fair, begun, enter } = queue(1)
  const running = enter('a', 'a0')
  let looks = 0
  for (let i = 0; i < 10_000; i += 1) {
    let state: Turn['state'] = 'waiting'
    const turn: Turn = {
      caller: i % 2 === 0 ? 'a' : 'b',
      isWanted: true,
      begin: () => begun.push('never'),
      get state() {
        looks += 1
        return state
      },
      set state(now) {
        state = now
      },
    }
    fair.enter(turn)
    fair.leave(turn)
  }
  enter('b', 'b0')
  looks = 0
  fair.leave(running)
  t.strictSame(begun, ['a0', 'b0'])
  t.equal(looks, 0)
  t.end()
})

t.test('who has left and was not told yet is passed over', t => {
  const { fair, begun, enter } = queue(1)
  const running = enter('a', 'a0')
  const gone: Turn = { caller: 'a', isWanted: false, begin: () => begun.push('gone'), state: 'waiting' }
  fair.enter(gone)
  enter('a', 'a1')
  fair.leave(running)
  fair.leave(gone)
  t.strictSame(begun, ['a0', 'a1'])
  t.end()
})

t.test('whoever waits longest begins once the share of others allows it', t => {
  const { fair, begun, enter } = queue(32)
  const turns = Array.from({ length: 40 }, (_, i) => enter('a', `a${i}`))
  t.equal(begun.length, 18)
  for (const turn of turns.slice(0, 10)) fair.leave(turn)
  t.equal(begun.length, 28, 'each that ends makes room for one')
  t.equal(turns.filter(({ state }) => state === 'waiting').length, 12)
  t.end()
})

t.test('bug: thousands of turns that ended as they began, one within the other, ended the process', t => {
  const { fair, begun, enter } = queue(2)
  const running = [enter('a', 'a0'), enter('a', 'a1')]
  const MANY = 20_000
  for (let i = 0; i < MANY; i += 1) {
    const turn: Turn = {
      caller: 'b',
      isWanted: true,
      state: 'waiting',
      begin: () => {
        begun.push(`b${i}`)
        fair.leave(turn)
      },
    }
    fair.enter(turn)
  }
  fair.leave(running[0]!)
  t.strictSame(begun, ['a0', 'a1', ...Array.from({ length: MANY }, (_, i) => `b${i}`)])
  t.end()
})

t.test('each place that is given back while a turn begins is taken', t => {
  const { fair, begun, enter } = queue(3)
  const running = [enter('a', 'a0'), enter('a', 'a1'), enter('a', 'a2')]
  const begin = (): void => {
    begun.push('b0')
    for (const turn of running.slice(1)) fair.leave(turn)
  }
  fair.enter({ caller: 'b', isWanted: true, begin, state: 'waiting' })
  for (const name of ['c0', 'd0', 'e0']) enter(name[0], name)
  fair.leave(running[0]!)
  t.strictSame(begun.slice(3), ['b0', 'c0', 'd0'])
  t.end()
})
