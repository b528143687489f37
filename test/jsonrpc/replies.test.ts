import fc from 'fast-check'
import t from 'tap'
import { findOpenMember, relayValue } from '../../src/jsonrpc/relay.ts'
import { readReply } from '../../src/jsonrpc/message.ts'
import { Collector } from '../../src/routes/transport/collector.ts'
import type { Exchange } from '../../src/routes/transport/exchange.ts'

/** A buffer cut at some places. */
function cutAt(whole: Buffer, cuts: readonly number[]): Buffer[] {
  const places = [0, ...cuts.map(cut => cut % (whole.length + 1)).sort((a, b) => a - b), whole.length]
  return places.slice(1).map((place, i) => whole.subarray(places[i], place))
}
const cuts = fc.array(fc.nat(), { maxLength: 8 })

/** What a route makes of a reply that comes in these pieces. */
async function collected(pieces: readonly Buffer[], holdBack: number): Promise<Exchange> {
  return new Promise(resolve => {
    const collector = new Collector({ timeout: 60_000, holdBack, maxBytes: null, departure: null }, resolve)
    collector.onHead({ status: 200, length: null, retryAfter: null, lines: '', keptFor: 0 })
    for (const piece of pieces) collector.onData(piece)
    collector.onComplete()
  })
}

/** The rest of a response behind the value of its `result`, well formed or not. */
const ending = fc.oneof(
  fc.constantFrom(
    '}',
    ',"id":7}',
    ' , "id" : 7 , "jsonrpc":"2.0" }\n',
    ',"id":8}',
    ',"id":null}',
    ',"id":"7"}',
    '',
  ),
  fc.constantFrom(
    ',"id":7}x',
    ',"id":7,}',
    ',"id":7]',
    ',"id":7,"result":1}',
    ',"id":7,"Result":1}',
    ',"\\u0069d":7}',
  ),
  fc.constantFrom(
    ',"id":7,"error":null}',
    ',"id":7,"error":{"code":1,"message":"x"}}',
    ',"id":7,"ERROR":null}',
    ',"id":7,"id":7}',
  ),
  fc.string({ maxLength: 10 }),
)
const beginning = fc.constantFrom(
  '{"result":',
  ' {"jsonrpc":"2.0","result" : ',
  '{"id":7,"result":',
  '{"re\\u0073ult":',
  '{"x":{},"result":',
)
const long = fc.oneof(
  fc.array(fc.jsonValue()),
  fc.dictionary(fc.string(), fc.jsonValue()),
  fc.string({ unit: 'binary' }),
)
/** A value as JSON, in a quarter of cases with a byte in it that is no UTF-8 there. */
const spoiled = fc
  .tuple(long, fc.nat(3), fc.nat(), fc.integer({ min: 0x80, max: 0xff }))
  .map(([value, chance, at, byte]) => {
    const raw = Buffer.from(JSON.stringify(value))
    // The first and last bytes say what kind of value it is.
    if (chance === 0 && raw.length > 2) raw[1 + (at % (raw.length - 2))] = byte
    return raw
  })

t.test('a reply means the same whole, in pieces, and relayed while it comes', async t => {
  let answered = 0
  await fc.assert(
    fc.asyncProperty(beginning, spoiled, ending, cuts, fc.nat(), async (begin, raw, end, places, at) => {
      const whole = Buffer.concat([Buffer.from(begin), raw, Buffer.from(end)])
      const reply = readReply(whole.toString('latin1'), 7)
      const expected = reply?.kind === 'result' ? reply.result : null
      if (expected !== null) answered += 1
      if (expected !== null && expected !== raw.toString('latin1')) return false

      const kept = await collected(cutAt(whole, places), 1_000_000)
      if (kept.kind !== 'whole' || kept.body !== whole.toString('latin1')) return false

      // The first part that is held back reaches at least into the value, and not beyond its end.
      const holdBack = begin.length + (at % Math.max(1, raw.length - 1))
      const pieces = [whole.subarray(0, holdBack + 1), ...cutAt(whole.subarray(holdBack + 1), places)]
      const opened = await collected(pieces, holdBack)
      if (opened.kind !== 'open') return false
      const member = findOpenMember(opened.head.toString('latin1'))
      if (member?.member !== 'result' || member.begin !== begin.length) return false
      const out: Buffer[] = []
      const relayed = async () => {
        for await (const piece of relayValue(opened.head, member, opened.tail, 7)) out.push(piece)
        return Buffer.concat(out).toString('latin1')
      }
      return (await relayed().catch(() => null)) === expected
    }),
    { numRuns: 3000 },
  )
  t.ok(answered > 300, `${answered} of them were answers`)
})

t.test('any bytes at all: what is read is valid and belongs to the call', t => {
  const piece = fc.constantFrom(
    '{"id":7,"result":',
    '}',
    '1',
    '{}',
    ',',
    '"error":',
    '{"code":1,"message":"m"}',
    '"id":7',
    'null',
    '"result":2',
    ' ',
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 7 }), pieces => {
      const body = pieces.join('')
      const reply = readReply(body, 7)
      if (reply === null) return true
      const parsed = JSON.parse(body) as { id?: unknown; result?: unknown; error?: unknown }
      return reply.kind === 'result'
        ? parsed.id === 7 && JSON.stringify(JSON.parse(reply.result)) === JSON.stringify(parsed.result)
        : [7, null, undefined].includes(parsed.id as number) && typeof reply.code === 'number'
    }),
    { numRuns: 20_000 },
  )
  t.end()
})

t.test('a reply that is no UTF-8, or says something twice, is none', t => {
  t.equal(readReply('{"id":7,"result":"\xe9"}', 7), null, 'Latin-1')
  t.equal(readReply('{"id":7,"result":"\xed\xa0\x80"}', 7), null, 'an encoded surrogate')
  t.strictSame(readReply('{"id":7,"result":"\xc3\xa9"}', 7), { kind: 'result', result: '"\xc3\xa9"' })
  for (const body of [
    '{"id":7,"result":1,"result":2}',
    '{"id":8,"id":7,"result":1}',
    '{"id":7,"result":1,"re\\u0073ult":1}',
  ])
    t.equal(readReply(body, 7), null, body)
  t.end()
})
