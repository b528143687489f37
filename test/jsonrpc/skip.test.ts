import fc from 'fast-check'
import t from 'tap'
import { INVALID, TOO_DEEP, skipValue } from '../../src/jsonrpc/skip.ts'

const whole = (text: string, depth = 1000): boolean => {
  const raw = Buffer.from(text, 'utf8').toString('latin1')
  return skipValue(raw, 0, depth) === raw.length
}

const parses = (text: string): boolean => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

t.test('a valid value ends where JSON.parse would end', t => {
  fc.assert(
    fc.property(fc.json(), text => whole(text)),
    { numRuns: 500 },
  )
  t.end()
})

t.test('a mutated text is accepted exactly when JSON.parse accepts it', t => {
  const alphabet = [
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '"',
    '\\',
    '0',
    '1',
    '-',
    '.',
    'e',
    '+',
    ' ',
    '\n',
    't',
    'null',
    '\u0001',
    'u00e9',
  ]
  const mutated = fc
    .tuple(fc.json(), fc.nat(), fc.constantFrom(...alphabet), fc.boolean())
    .map(([text, at, piece, cut]) => {
      const i = text.length === 0 ? 0 : at % text.length
      return (text.slice(0, i) + piece + text.slice(cut ? i + 1 : i)).trim()
    })
  fc.assert(
    fc.property(mutated, text => whole(text) === parses(text)),
    { numRuns: 5000 },
  )
  t.end()
})

t.test('numbers, words, strings and escapes at their edges', t => {
  const valid = [
    '0',
    '-0',
    '1.0',
    '1e400',
    '-1.5E+10',
    '12345678901234567890',
    '""',
    '"\\u00e9\\n"',
    'true',
    'false',
    'null',
    '[]',
    '{}',
    '[[],{}]',
  ]
  const invalid = [
    '',
    '01',
    '-',
    '1.',
    '.5',
    '1e',
    '+1',
    'nul',
    'True',
    '"',
    '"\\x"',
    '"\\u12"',
    '"\t"',
    '[1,]',
    '[,1]',
    '{"a"}',
    '{"a":}',
    '{a:1}',
    '{"a":1,}',
    '[1 2]',
    '{"a":1 "b":2}',
    "'a'",
    '[1}',
    '{]',
    'NaN',
  ]
  for (const text of valid) t.ok(whole(text), text)
  for (const text of invalid) t.notOk(whole(text), text)
  t.equal(skipValue('[1,2', 0, 10), INVALID)
  t.end()
})

t.test('depth is counted before anything recursive could run', t => {
  const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels)
  t.ok(whole(nested(64), 64))
  t.equal(skipValue(nested(65), 0, 64), TOO_DEEP)
  t.equal(skipValue('['.repeat(5_000_000), 0, 64), TOO_DEEP)
  t.equal(skipValue('{"a":{"a":{}}}', 0, 2), TOO_DEEP)
  t.end()
})
