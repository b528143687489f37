import { setImmediate as nextTurn } from 'node:timers/promises'
import t from 'tap'
import { Departure } from '../../src/net/departure.ts'

t.test('who listens is told once, soon after the end and not within it', async t => {
  const departure = new Departure()
  const told: string[] = []
  departure.on(() => told.push('a'))
  departure.on(() => told.push('b'))
  t.notOk(departure.isOver)
  departure.leave()
  departure.leave()
  t.ok(departure.isOver)
  t.strictSame(told, [])
  await nextTurn()
  t.strictSame(told, ['a', 'b'])
  await nextTurn()
  t.strictSame(told, ['a', 'b'])
})

t.test('who listens no more is not told, even where the end has come', async t => {
  const departure = new Departure()
  const told: string[] = []
  const [early, late] = [() => told.push('early'), () => told.push('late')]
  departure.on(early)
  departure.on(late)
  departure.off(early)
  departure.leave()
  departure.off(late)
  await nextTurn()
  t.strictSame(told, [])
})

t.test('who comes after the end is told as well', async t => {
  const departure = new Departure()
  departure.leave()
  const told: string[] = []
  departure.on(() => told.push('late'))
  t.strictSame(told, [])
  await nextTurn()
  t.strictSame(told, ['late'])
})

t.test('many who leave in one moment are told of in several turns', async t => {
  let told = 0
  for (let i = 0; i < 20; i += 1) {
    const departure = new Departure()
    departure.on(() => {
      const end = performance.now() + 1
      while (performance.now() < end);
      told += 1
    })
    departure.leave()
  }
  await nextTurn()
  t.ok(told > 0 && told < 20, `${told} in the first turn`)
  for (let turn = 0; told < 20 && turn < 100; turn += 1) await nextTurn()
  t.equal(told, 20)
})
