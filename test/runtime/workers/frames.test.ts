import t from 'tap'
import { Frames, frameOf, MOST } from '../../../src/runtime/workers/channel.ts'

t.test('messages come whole, however the stream is cut', t => {
  const messages = [{ t: 'a' }, { t: 'é', list: [1, 2] }, {}, { t: 'x'.repeat(70_000) }]
  const bytes = Buffer.concat(messages.map(frameOf))
  for (const size of [1, 3, 4, 5, 1024, bytes.length]) {
    const frames = new Frames()
    const seen: unknown[] = []
    for (let at = 0; at < bytes.length; at += size) seen.push(...frames.add(bytes.subarray(at, at + size)))
    t.strictSame(seen, messages, `in pieces of ${size}`)
  }
  t.end()
})

t.test('a length that no message has is told before its bytes have come', t => {
  const head = Buffer.alloc(4)
  head.writeUInt32BE(MOST + 1)
  t.throws(() => new Frames().add(head), { message: /too long/ })
  t.throws(() => new Frames().add(Buffer.from([0, 0, 0, 1, 123])), SyntaxError)
  t.end()
})
