/** What an answer is found by. */
import fc from 'fast-check'
import t from 'tap'
import { keyOf } from '../../src/call/cache/key.ts'
import { shownNumber, showsAsked } from '../../src/call/cache/shown.ts'
import { evmReading } from '../../src/families/evm/reading.ts'
import { blockSpan } from '../../src/families/block-span.ts'
import { compact } from '../../src/jsonrpc/compact.ts'
import { rawOf } from '../../src/jsonrpc/raw.ts'
import type { MethodRow } from '../../src/snapshot/types.ts'

const blanks = fc.string({ unit: fc.constantFrom(' ', '\n', '\r', '\t'), maxLength: 3 })

t.test('white space between values is left out, whatever they are, and nothing else', t => {
  fc.assert(
    fc.property(fc.json(), fc.array(blanks, { minLength: 1, maxLength: 20 }), (json, some) => {
      let at = 0
      // Between tokens: strings are left as they are.
      const spaced = json.replace(/"(?:[^"\\]|\\.)*"|[[\]{},:]/g, token => {
        const blank = some[at++ % some.length]!
        return token.startsWith('"') ? token : `${blank}${token}${blank}`
      })
      const raw = rawOf(json)
      return (
        compact(rawOf(spaced)) === compact(raw) &&
        JSON.stringify(JSON.parse(json)) === JSON.stringify(JSON.parse(compact(json)))
      )
    }),
  )
  t.equal(compact('[ "a b" , "c\\" d" ]'), '["a b","c\\" d"]')
  t.end()
})

t.test('two requests that differ have keys that differ', t => {
  const params = [
    '["a","b"]',
    '[["a","b"]]',
    '[true]',
    '["true"]',
    '[1]',
    '[1.0]',
    '["aB"]',
    '["ab"]',
    '["\\u0061"]',
    '["a"]',
    '[]',
    '{}',
  ]
  t.equal(new Set(params.map(each => keyOf('n', 'm', each))).size, params.length)
  t.not(keyOf('a', 'b', '[]'), keyOf('a', 'c', '[]'))
  t.not(keyOf('a', 'b', '[]'), keyOf('c', 'b', '[]'))
  t.end()
})

t.test('the number that a result shows', t => {
  t.equal(shownNumber('{"number":"0x10"}', ['number']), 16)
  t.equal(shownNumber('[{"blockNumber":7},{}]', ['0', 'blockNumber']), 7)
  for (const raw of [
    '[]',
    '{}',
    '"0x1"',
    '{"number":null}',
    '{"number":"0x1","number":"0x2"}',
    '{"Number":"0x1"}',
  ])
    t.equal(shownNumber(raw, ['number']), null, raw)
  const asked = { from: 5, to: 8 }
  t.equal(showsAsked('[]', ['0', 'blockNumber'], asked), true)
  t.equal(showsAsked('[{"blockNumber":"0x8"}]', ['0', 'blockNumber'], asked), true)
  t.equal(showsAsked('[{"blockNumber":"0x9"}]', ['0', 'blockNumber'], asked), false)
  t.equal(showsAsked('{}', ['number'], asked), false)
  t.equal(showsAsked('{}', null, asked), true)
  t.end()
})

t.test('which block an EVM call is about', t => {
  const reading = (kind: 'ref' | 'range', element: string | undefined): unknown => {
    const block = { at: 0, kind, omitted: 'latest' }
    const span = blockSpan(block, element === undefined ? [] : [element])
    if (span !== null && 'why' in span) return 'invalid'
    const read = evmReading({ row: { rule: { block } } as unknown as MethodRow, span })
    return read.kind === 'moving' ? read.tag : read.kind === 'numbers' ? [read.from, read.to] : read.kind
  }
  const hash = `"0x${'a'.repeat(64)}"`
  for (const [element, expected] of [
    ['"0x10"', [16, 16]],
    ['"earliest"', [0, 0]],
    [undefined, 'latest'],
    ['null', 'latest'],
    ['"latest"', 'latest'],
    ['"safe"', 'safe'],
    ['"finalized"', 'finalized'],
    ['"pending"', 'unsettled'],
    ['"accepted"', 'unsettled'],
    [hash, 'shown'],
    [`{"blockHash":${hash}}`, 'shown'],
    ['{"blockNumber":"0x2"}', [2, 2]],
  ] as const)
    t.strictSame(reading('ref', element), expected, String(element))
  for (const [range, expected] of [
    ['{}', 'latest'],
    ['{"fromBlock":"0x1"}', 'latest'],
    ['{"fromBlock":"0x1","toBlock":"0x5"}', [1, 5]],
    ['{"fromBlock":"0x5","toBlock":"0x1"}', [1, 5]],
    ['{"fromBlock":"earliest","toBlock":"0x1"}', [0, 1]],
    ['{"fromBlock":"latest","toBlock":"0x1"}', 'unsettled'],
    ['{"fromBlock":"0x1","toBlock":"finalized"}', 'finalized'],
    ['{"fromBlock":"0x1","toBlock":"pending"}', 'unsettled'],
    ['{"fromBlock":"safe","toBlock":"latest"}', 'unsettled'],
    [`{"blockHash":${hash}}`, 'shown'],
  ] as const)
    t.strictSame(reading('range', range), expected, range)
  t.equal(evmReading({ row: { rule: { block: null } } as unknown as MethodRow, span: null }).kind, 'moving')
  t.end()
})
