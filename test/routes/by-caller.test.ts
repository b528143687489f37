import t from 'tap'
import { ByCaller } from '../../src/routes/health/by-caller.ts'

const numbered = () => {
  let made = 0
  return new ByCaller(() => ({ n: (made += 1) }))
}

t.test('a caller has a state of its own once it is made, and the same one until it is forgotten', t => {
  const states = numbered()
  t.strictSame([states.everybody.n, states.of('a'), [...states.own()]], [1, undefined, []])
  t.equal(states.make('a'), states.make('a'))
  t.equal(states.of('a'), states.make('a'))
  t.not(states.make('b'), states.everybody)
  states.forget('nobody')
  states.forget('a')
  t.strictSame([states.of('a'), states.of('b')?.n], [undefined, 3])
  states.forget('b')
  t.strictSame([...states.own()], [])
  t.equal(states.make('a').n, 4)
  t.end()
})

t.test('256 callers are remembered, the oldest makes room', t => {
  const states = numbered()
  for (let i = 0; i < 256; i += 1) states.make(`c${i}`)
  states.make('c0')
  t.strictSame([[...states.own()].length, states.of('c0')?.n], [256, 2])
  states.make('new')
  t.strictSame([[...states.own()].length, states.of('c0'), states.of('c1')?.n], [256, undefined, 3])
  t.equal(
    states.count(({ n }) => n > 250),
    8,
  )
  t.end()
})
