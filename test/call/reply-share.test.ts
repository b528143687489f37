import fc from 'fast-check'
import t from 'tap'
import { ReplyShare } from '../../src/call/reply/reply-share.ts'
import type { ItemShare } from '../../src/call/reply/reply-share.ts'
import type { Holder } from '../../src/limits/byte-budget.ts'

/** A message that may hold so many bytes. */
function messageOf(most: number): Holder & { held: number } {
  const message = {
    held: 0,
    isSpent: false,
    take(bytes: number) {
      if (message.held + bytes > most) return 'no_room' as const
      message.held += bytes
      return null
    },
    giveBack(bytes: number) {
      message.held -= bytes
    },
  }
  return message
}

t.test('the calls of a batch share one reply, to the last byte', t => {
  const share = new ReplyShare(10, messageOf(100))
  const [one, other] = [share.open(), share.open()]
  t.strictSame([one.take(6), other.take(5), other.take(4), other.take(0)], [null, 'too_large', null, null])
  t.strictSame([share.left, share.held], [0, 10])
  one.giveBack(1)
  t.strictSame([other.take(2), other.take(1)], ['too_large', null])
  t.end()
})

t.test('what the message has no room for is taken from nobody', t => {
  const message = messageOf(5)
  const share = new ReplyShare(10, message)
  const item = share.open()
  t.strictSame([item.take(6), item.take(5), share.left, message.held], ['no_room', null, 5, 5])
  t.equal(share.open().settle(1), false)
  t.strictSame([share.left, message.held], [5, 5])
  t.end()
})

t.test('the text of an answer takes the place of what came for it', t => {
  const message = messageOf(100)
  const share = new ReplyShare(10, message)
  const item = share.open()
  item.take(8)
  t.equal(item.settle(10), true, 'what it held before is free for it')
  t.strictSame([share.held, message.held, item.take(0)], [10, 10, 'no_room'])
  item.giveBack(8)
  t.equal(share.held, 10, 'a reply that ends late gives nothing back twice')
  item.release()
  item.release()
  t.strictSame([share.left, message.held], [10, 0])
  const large = share.open()
  large.take(8)
  t.equal(large.settle(11), false)
  t.strictSame([share.left, message.held], [10, 0], 'what does not fit holds nothing')
  t.end()
})

t.test('property: what the message holds is what the calls hold, and never more than the reply', t => {
  const step = fc.record({
    item: fc.nat(3),
    bytes: fc.nat(8),
    what: fc.constantFrom('take', 'giveBack', 'settle', 'release'),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), steps => {
      const message = messageOf(15)
      const share = new ReplyShare(20, message)
      const items = Array.from({ length: 4 }, () => ({ share: share.open(), held: 0, isSettled: false }))
      const held = () => items.reduce((sum, one) => sum + one.held, 0)
      return steps.every(({ item, bytes, what }) => {
        const one = items[item]!
        const call: ItemShare = one.share
        if (what === 'take' && call.take(bytes) === null) one.held += bytes
        if (what === 'giveBack' && bytes <= one.held) {
          call.giveBack(bytes)
          if (!one.isSettled) one.held -= bytes
        }
        if (what === 'settle' && !one.isSettled) {
          one.held = 0
          if (call.settle(bytes)) one.held = bytes
          one.isSettled = true
        }
        if (what === 'release') {
          call.release()
          one.held = 0
        }
        return message.held === held() && share.left === 20 - held() && held() <= 15
      })
    }),
    { numRuns: 2_000 },
  )
  t.end()
})
