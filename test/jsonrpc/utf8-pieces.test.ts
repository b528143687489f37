import { isUtf8 } from 'node:buffer'
import fc from 'fast-check'
import t from 'tap'
import { Utf8Pieces } from '../../src/jsonrpc/utf8-pieces.ts'

/** Text, and bytes that may stand in the way of it. */
const bytes = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'binary' }).map(text => Buffer.from(text)),
      fc
        .constantFrom('c3a9', 'e282ac', 'f09f9880', 'c0af', 'eda080', 'f4908080', 'e282', '80', 'ff')
        .map(hex => Buffer.from(hex, 'hex')),
    ),
    { maxLength: 6 },
  )
  .map(parts => Buffer.concat(parts))

t.test('pieces are UTF-8 together where the whole is', t => {
  const seen = { yes: 0, no: 0 }
  fc.assert(
    fc.property(bytes, fc.array(fc.nat({ max: 40 }), { maxLength: 8 }), (whole, cuts) => {
      const places = [0, ...cuts.map(cut => cut % (whole.length + 1)).sort((a, b) => a - b), whole.length]
      const text = new Utf8Pieces()
      const fed = places.slice(1).map((place, i) => text.feed(whole.subarray(places[i], place)))
      const expected = isUtf8(whole)
      seen[expected ? 'yes' : 'no'] += 1
      return (fed.every(Boolean) && text.isWhole) === expected
    }),
    { numRuns: 5_000 },
  )
  t.ok(seen.yes > 500 && seen.no > 500, JSON.stringify(seen))
  t.end()
})

t.test('what cannot become UTF-8 is seen with the piece that shows it', t => {
  const text = new Utf8Pieces()
  t.ok(text.feed(Buffer.from('e2', 'hex')))
  t.notOk(text.isWhole)
  t.ok(text.feed(Buffer.from('82', 'hex')))
  t.notOk(text.feed(Buffer.from('41', 'hex')))
  t.end()
})
