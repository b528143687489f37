import t from 'tap'
import { PartialMessage } from '../../src/http/websocket/partial-message.ts'
import { ByteBudget, COPIES, FREE } from '../../src/limits/byte-budget.ts'

/** A part of a message; gives what is held after each piece of it. */
function scene(limit = 1_000_000) {
  const budget = new ByteBudget(() => limit)
  const part = new PartialMessage(budget)
  const heldAfter = (...pieces: readonly number[]) =>
    pieces.map(bytes => (part.receive(bytes) ? budget.held : 'no room'))
  return { budget, part, heldAfter }
}

t.test('4 KiB of a message are free, in however many pieces it comes', t => {
  t.strictSame(scene().heldAfter(FREE, 1, 9), [0, COPIES, 10 * COPIES])
  t.strictSame(scene().heldAfter(FREE + 10), [10 * COPIES])
  t.strictSame(
    scene()
      .heldAfter(...Array.from({ length: 5 }, () => FREE / 4))
      .at(-1),
    (FREE / 4) * COPIES,
  )
  t.end()
})

t.test('a complete message counts no more, and nothing of it counts for the next', t => {
  const { budget, part, heldAfter } = scene()
  for (let message = 0; message < 100; message += 1) {
    part.receive(FREE)
    part.receive(100)
    part.complete()
    part.receive(100)
    part.complete()
  }
  t.equal(budget.held, 0)
  t.strictSame(heldAfter(FREE, 1), [0, COPIES])
  t.end()
})

t.test('a message for which there is no memory is refused, and leaves nothing when its socket goes', t => {
  const { budget, part, heldAfter } = scene(100 * COPIES)
  t.strictSame(heldAfter(FREE + 60, 41), [60 * COPIES, 'no room'])
  part.close()
  part.close()
  t.equal(budget.held, 0)
  t.end()
})
