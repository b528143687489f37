import fc from 'fast-check'
import t from 'tap'
import { findOpenMember, relayValue } from '../../src/jsonrpc/relay.ts'
import { ValueEnd } from '../../src/jsonrpc/value-end.ts'

async function* pieces(...parts: string[]): AsyncGenerator<Buffer> {
  for (const part of parts) yield Promise.resolve(Buffer.from(part, 'utf8'))
}

async function relay(head: string, ...tail: string[]): Promise<string> {
  const open = findOpenMember(Buffer.from(head).toString('latin1'))
  if (open === null) return 'no open member'
  const out: Buffer[] = []
  for await (const piece of relayValue(Buffer.from(head), open, pieces(...tail), 7)) out.push(piece)
  return `${open.member} ${Buffer.concat(out).toString('utf8')}`
}

t.test('the end of a value is found however its bytes are cut', t => {
  const container = fc.oneof(
    fc.array(fc.jsonValue()),
    fc.dictionary(fc.string(), fc.jsonValue()),
    fc.string({ unit: 'binary' }),
  )
  fc.assert(
    fc.property(container, fc.array(fc.nat(), { maxLength: 6 }), fc.string(), (value, cuts, after) => {
      const text = Buffer.from(JSON.stringify(value))
      const whole = Buffer.concat([text, Buffer.from(`,${after}`)])
      const places = [0, ...cuts.map(cut => cut % whole.length).sort((a, b) => a - b), whole.length]
      const scanner = new ValueEnd()
      for (let i = 0; i + 1 < places.length; i += 1) {
        const end = scanner.feed(whole.subarray(places[i], places[i + 1]))
        if (end >= 0) return places[i]! + end === text.length
      }
      return false
    }),
    { numRuns: 2000 },
  )
  t.end()
})

t.test('a value streams through, whatever the order of the members', async t => {
  t.equal(await relay('{"jsonrpc":"2.0","id":7,"result":[1,', '2,"]}"', ',3]', '}'), 'result [1,2,"]}",3]')
  t.equal(await relay('{"result":"ab', 'é\\"c"', ',"id":7,"jsonrpc":"2.0"} \n'), 'result "abé\\"c"')
  t.equal(await relay('{"id":7,"error":{"code":3,"data":"', '00"}}'), 'error {"code":3,"data":"00"}')
  t.equal(await relay('{"id":7,"result":[1,2]}'), 'result [1,2]', 'all of it in the first part')
  t.equal(await relay('{"result":"abc"', ',"id":7}'), 'result "abc"', 'all of the value in the first part')
})

t.test('what is no whole answer to the call breaks off before its end', async t => {
  const broken: Record<string, [string, ...string[]]> = {
    'cut within the value': ['{"id":7,"result":[1,', '2'],
    'cut behind the value': ['{"id":7,"result":[1,', '2]'],
    'another id': ['{"id":8,"result":[1,', '2]}'],
    'no id': ['{"result":[1,', '2]}'],
    'an error behind a partial result': ['{"id":7,"result":[1,', '2],"error":{"code":1,"message":"x"}}'],
    'garbage behind it': ['{"id":7,"result":[1,', '2]}{}'],
    'an endless envelope': ['{"id":7,"result":[1,', '2],"x":"', 'y'.repeat(2000), '"}'],
  }
  for (const [name, [head, ...tail]] of Object.entries(broken)) await t.rejects(relay(head, ...tail), name)
  for (const head of [
    '',
    '<html>',
    '[1,',
    '{"id":7,"other":[1,',
    '{"id":7,"result":12',
    `{"result":[1],"x":"${'y'.repeat(2000)}`,
  ])
    t.equal(await relay(head), 'no open member', head)
})
