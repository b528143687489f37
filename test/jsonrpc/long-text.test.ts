import t from 'tap'
import { LongText } from '../../src/jsonrpc/long-text.ts'
import type { Part } from '../../src/jsonrpc/long-text.ts'
import { Random } from '../support/random.ts'

t.test('the pieces are the bytes of the parts, whatever their lengths', t => {
  const random = new Random(7)
  for (let round = 0; round < 300; round++) {
    const most = 1 + random.below(12)
    const texts = Array.from({ length: random.below(9) }, () =>
      random.bytes(random.below(30)).toString('latin1'),
    )
    const reply = new LongText(texts.map(raw => ({ raw })))
    const pieces = [...reply.pieces(most)]
    const whole = Buffer.from(texts.join(''), 'latin1')
    const full = Array.from({ length: Math.ceil(whole.length / most) }, (_, i) =>
      whole.subarray(i * most, (i + 1) * most).toString('hex'),
    )
    t.strictSame(
      [reply.length, pieces.map(piece => piece.toString('hex'))],
      [whole.length, full],
      `${JSON.stringify(texts)} in pieces of ${most}`,
    )
  }
  t.end()
})

t.test('a part has left when the piece after its last byte is asked for', t => {
  const left: string[] = []
  const part = (raw: string): Part => ({ raw, left: () => left.push(raw) })
  const pieces = new LongText([part('abc'), part('defgh'), part('i')]).pieces(4)
  const seen = Array.from({ length: 4 }, () => [pieces.next().value?.toString() ?? null, [...left]])
  t.same(seen, [
    ['abcd', []],
    ['efgh', ['abc']],
    ['i', ['abc', 'defgh']],
    [null, ['abc', 'defgh', 'i']],
  ])
  t.end()
})
