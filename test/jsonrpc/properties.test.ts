import fc from 'fast-check'
import t from 'tap'
import { isBad, scanMessage } from '../../src/jsonrpc/message.ts'
import { memberOf, pickMembers, matchName } from '../../src/jsonrpc/elements.ts'

const quiet = { numRuns: 3000 }
const latin1 = (text: string) => Buffer.from(text).toString('latin1')

/** A name as some client could write it: letters in either case or folded, each plain or as an escape. */
const spelling = (name: string) =>
  fc
    .tuple(
      ...Array.from(name, letter =>
        fc.tuple(
          fc.oneof(
            { weight: 6, arbitrary: fc.constant(letter) },
            { weight: 1, arbitrary: fc.constant(letter.toUpperCase()) },
            { weight: 1, arbitrary: fc.constant({ s: 'ſ', i: 'ı', k: 'K' }[letter] ?? letter) },
            { weight: 1, arbitrary: fc.constantFrom('x', '', 'é', '😀', ' ') },
          ),
          fc.constantFrom('plain', 'plain', 'plain', 'lower', 'upper'),
        ),
      ),
    )
    .map(letters => `"${letters.map(([letter, how]) => spelt(letter, how)).join('')}"`)

function spelt(text: string, how: string): string {
  if (how === 'plain') return text
  const escaped = Array.from({ length: text.length }, (_, i) => text.charCodeAt(i).toString(16))
  return escaped
    .map(unit => `\\u${how === 'upper' ? unit.toUpperCase().padStart(4, '0') : unit.padStart(4, '0')}`)
    .join('')
}

const folded = (name: string) =>
  name.replace(/[A-Z]/g, c => c.toLowerCase()).replace(/[ſKıİ]/g, c => ({ ſ: 's', K: 'k' })[c] ?? 'i')
const matches = (name: string, wanted: string) =>
  name === wanted ? 'same' : folded(name) === folded(wanted) ? 'variant' : 'other'

t.test('a name is compared as if it had been decoded', t => {
  const wanted = ['jsonrpc', 'id', 'method', 'params', 'fromBlock', 'result'] as const
  const anything = fc.string({ unit: 'binary' }).map(text => JSON.stringify(text))
  const pair = fc.constantFrom(...wanted).chain(name => fc.tuple(fc.constant(name), spelling(name)))
  fc.assert(
    fc.property(pair, anything, ([name, quoted], other) => {
      for (const one of [quoted, other])
        if (matchName(latin1(one), 0, name) !== matches(JSON.parse(one) as string, name)) return false
      return true
    }),
    { numRuns: 10_000 },
  )
  t.end()
})

const space = fc.constantFrom('', '', ' ', '\n', '\t \r')
const value = fc.oneof(
  fc.json(),
  fc.constantFrom(
    '1',
    '-0',
    '1.0',
    '12345678901234567890',
    '1e400',
    'null',
    '"a"',
    '"\\u0041"',
    '"2.0"',
    '[]',
    '{}',
  ),
)
const member = fc.tuple(
  fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom('"jsonrpc"', '"id"', '"method"', '"params"') },
    { weight: 1, arbitrary: fc.constantFrom('jsonrpc', 'id', 'method', 'params').chain(spelling) },
    { weight: 2, arbitrary: fc.constantFrom('"__proto__"', '"extra"', '""', '"constructor"', '"toString"') },
  ),
  fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom('"2.0"', '"eth_call"', '1', '[1]', '{"a":[]}') },
    { weight: 1, arbitrary: value },
  ),
)

/** What the contract says of a call with these members, in the slow and plain way. */
function model(members: readonly (readonly [string, string])[]): unknown {
  const found = new Map<string, string>()
  let ambiguous = false
  for (const [quoted, raw] of members) {
    const name = JSON.parse(quoted) as string
    for (const wanted of ['jsonrpc', 'id', 'method', 'params']) {
      const match = matches(name, wanted)
      if (match === 'variant' || (match === 'same' && found.has(wanted))) ambiguous = true
      if (match === 'same') found.set(wanted, raw)
    }
  }
  const parsed = (name: string) => JSON.parse(found.get(name) ?? 'null') as unknown
  const id = found.get('id')
  const isId = id === undefined || parsed('id') === null || ['string', 'number'].includes(typeof parsed('id'))
  const params = parsed('params')
  const good = !ambiguous && isId && parsed('jsonrpc') === '2.0' && typeof parsed('method') === 'string'
  if (!good || typeof params !== 'object')
    return { refused: ambiguous ? null : isId && id !== undefined ? id : 'null' }
  return { id, method: parsed('method'), params: params === null ? '[]' : found.get('params') }
}

t.test('a call is what its members say, its id and params byte for byte', t => {
  const call = fc.tuple(fc.array(member, { minLength: 2, maxLength: 6 }), space, fc.boolean())
  let wellFormed = 0
  fc.assert(
    fc.property(call, ([extra, gap, regular]) => {
      const base: [string, string][] = regular
        ? [
            ['"jsonrpc"', '"2.0"'],
            ['"method"', '"m"'],
          ]
        : []
      const taken = new Set(base.map(([name]) => name))
      const members = [...base, ...extra.filter(([name]) => !regular || !taken.has(name))]
      const text = `{${members.map(([name, raw]) => `${gap}${name}${gap}:${gap}${raw}${gap}`).join(',')}}`
      const message = scanMessage(Buffer.from(text), 64)
      if (message.kind !== 'single') return false
      const { item } = message
      const expected = model(members.map(([name, raw]) => [name, latin1(raw)])) as { refused?: string | null }
      if (!isBad(item)) wellFormed += 1
      if (isBad(item))
        return 'refused' in expected && (expected.refused === null || expected.refused === item.id)
      t.same(Object.keys(expected), ['id', 'method', 'params'])
      const { id, method, params } = item
      return JSON.stringify({ id, method, params }) === JSON.stringify(expected)
    }),
    quiet,
  )
  t.ok(wellFormed > 300, `${wellFormed} of them were calls`)
  t.end()
})

t.test('an id comes back byte for byte, in single calls and in batches', t => {
  const id = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 100 }).map(s => JSON.stringify(s)),
    fc.constantFrom('-0', '1E5'),
  )
  fc.assert(
    fc.property(fc.array(id, { minLength: 1, maxLength: 5 }), ids => {
      const calls = ids.map(one => `{"jsonrpc":"2.0","method":"m","id":${one}}`)
      const single = scanMessage(Buffer.from(calls[0]!), 64)
      const batch = scanMessage(Buffer.from(`[${calls.join()}]`), 64)
      if (single.kind !== 'single' || batch.kind !== 'batch' || single.item.id !== latin1(ids[0]!))
        return false
      return batch.items.every((item, i) => item.id === latin1(ids[i]!)) && batch.items.length === ids.length
    }),
    quiet,
  )
  t.end()
})

t.test('any bytes are a message exactly when they are UTF-8 JSON, however they are nested', t => {
  const piece = fc.constantFrom(
    ...'{}[]:,"'.split(''),
    '\\',
    'u0041',
    '1',
    '-',
    '.',
    'e',
    'null',
    ' ',
    'é',
    '\n',
    '"a"',
    '"a":',
  )
  const bytes = fc.oneof(
    fc.array(piece, { maxLength: 14 }).map(pieces => Buffer.from(pieces.join(''))),
    fc.uint8Array({ maxLength: 12 }).map(array => Buffer.from(array)),
    fc.json().map(text => Buffer.from(text)),
  )
  const isJson = (body: Buffer) => {
    try {
      JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body))
      return true
    } catch {
      return false
    }
  }
  fc.assert(
    fc.property(bytes, body => {
      const message = scanMessage(body, 1000)
      return isJson(body) === !(message.kind === 'refused' && message.refusal.reason === 'parse_error')
    }),
    { numRuns: 20_000 },
  )
  t.end()
})

t.test('members that are picked together are those that are picked one by one', t => {
  const names = ['blockHash', 'fromBlock', 'toBlock']
  const named = fc.constantFrom(...names).chain(name => fc.oneof(fc.constant(`"${name}"`), spelling(name)))
  fc.assert(
    fc.property(fc.array(fc.tuple(named, fc.json()), { maxLength: 4 }), members => {
      const object = latin1(`{${members.map(([name, raw]) => `${name}:${raw}`).join()}}`)
      const together = pickMembers(object, names)
      return names.every((name, i) => {
        const hits = members.filter(([quoted]) => matches(JSON.parse(quoted) as string, name) !== 'other')
        const exact = hits.every(([quoted]) => JSON.parse(quoted) === name)
        const expected =
          hits.length === 0 ? undefined : hits.length === 1 && exact ? latin1(hits[0]![1]) : null
        return together[i] === expected && memberOf(object, name) === expected
      })
    }),
    quiet,
  )
  t.end()
})
