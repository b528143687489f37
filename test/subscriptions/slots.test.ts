import fc from 'fast-check'
import t from 'tap'
import { Slots } from '../../src/limits/slots.ts'
import { SubscriptionSlots } from '../../src/subscriptions/shared/slots.ts'
import type { Kept } from '../../src/subscriptions/shared/slots.ts'

/** What is kept, and ends when the test says so. */
function kept(): Kept & { asked: boolean; readonly ended: () => void } {
  const one = { asked: false, ended: (): void => undefined, end: (): Promise<void> => ends }
  const ends = new Promise<void>(resolve => (one.ended = resolve))
  one.end = () => {
    one.asked = true
    return ends
  }
  return one
}

t.test('a holder has so many slots, and others have their own', t => {
  const slots = new SubscriptionSlots(new Slots())
  t.equal(slots.take('a', 0), false)
  t.ok(slots.take('a', 2))
  t.ok(slots.take('a', 2))
  t.equal(slots.take('a', 2), false)
  t.ok(slots.take('b', 1))
  slots.free('a')
  t.ok(slots.take('a', 2))
  slots.free('nobody')
  t.equal(slots.take('a', 2), false)
  t.end()
})

t.test('the oldest kept subscription ends for a new one, which waits until it has', async t => {
  const slots = new SubscriptionSlots(new Slots())
  const [old, young] = [kept(), kept()]
  for (const one of [old, young]) {
    void slots.take('a', 2)
    slots.keep('a', one)
  }
  let isIn = false
  const taking = Promise.resolve(slots.take('a', 2)).then(() => (isIn = true))
  t.strictSame([old.asked, young.asked], [true, false])
  await Promise.resolve()
  t.equal(isIn, false)
  old.ended()
  await taking
  t.equal(slots.unkeep('a', old), false, 'its slot went to who came')
  t.equal(slots.unkeep('a', young), true)
  t.equal(slots.take('a', 2), false, 'nothing is kept any more')
  t.end()
})

t.test('after a lower limit as many end as are too many, or none where that would not do', t => {
  const slots = new SubscriptionSlots(new Slots())
  const all = Array.from({ length: 4 }, kept)
  for (let i = 0; i < 5; i += 1) void slots.take('a', 5)
  for (const one of all) slots.keep('a', one)
  t.equal(slots.take('a', 1), false)
  t.strictSame(
    all.map(one => one.asked),
    [false, false, false, false],
  )
  t.ok(slots.take('a', 3))
  t.strictSame(
    all.map(one => one.asked),
    [true, true, true, false],
  )
  t.ok(slots.take('a', 3))
  t.equal(slots.take('a', 3), false)
  t.end()
})

t.test('property: a holder never has more than its limit, and room is never lost', t => {
  const step = fc.constantFrom('take', 'free', 'keep', 'revive', 'over')
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), fc.integer({ min: 1, max: 5 }), (steps, limit) => {
      const slots = new SubscriptionSlots(new Slots())
      let live = 0
      let waiting: Kept[] = []
      for (const what of steps) {
        if (what === 'take') {
          const isIn = slots.take('a', limit) !== false
          if (isIn !== live < limit) return false
          if (isIn) live += 1
          if (live + waiting.length > limit) waiting = waiting.slice(1)
        }
        if (what === 'free' && live > 0) {
          slots.free('a')
          live -= 1
        }
        if (what === 'keep' && live > 0) {
          const one = { end: () => Promise.resolve() }
          slots.keep('a', one)
          waiting.push(one)
          live -= 1
        }
        const last = waiting.at(-1)
        if (last !== undefined && (what === 'revive' || what === 'over')) {
          if (!slots.unkeep('a', last)) return false
          waiting.pop()
          if (what === 'revive') live += 1
          else slots.free('a')
        }
      }
      return true
    }),
    { numRuns: 1_000 },
  )
  t.end()
})
