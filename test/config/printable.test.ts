import t from 'tap'
import { escapeLine, escapeText, isPrintable } from '../../src/config/words/printable.ts'

/** Names of tests are lines of a report. */
const hex = (character: string) => character.codePointAt(0)!.toString(16)

t.test('printable text of at most so many characters may be stored', t => {
  for (const text of ['', 'a b', 'Zürich', '東京', '🦊🦊', '١٢٣', 'e\u0301', '<b>&"\'\\'])
    t.ok(isPrintable(text, 10), text)
  t.ok(isPrintable('🦊'.repeat(10), 10), 'a character is a code point')
  t.notOk(isPrintable('🦊'.repeat(11), 10))
  t.notOk(isPrintable('x'.repeat(11), 10))
  t.end()
})

t.test('text with any other character may not', t => {
  for (const bad of ['\0', '\t', '\n', '\r', '\x1b', '\x7f', '\x85', '\x9b', '\xad', '\u061c'])
    t.notOk(isPrintable(`a${bad}b`, 10), hex(bad))
  for (const bad of [
    '\u200b',
    '\u200f',
    '\u2028',
    '\u2029',
    '\u202e',
    '\u2066',
    '\ufeff',
    '\ud800',
    '\udc00',
  ])
    t.notOk(isPrintable(`a${bad}b`, 10), hex(bad))
  t.notOk(isPrintable('\u{e0041}', 10), 'a tag character')
  t.end()
})

t.test('what may not be stored is shown as escapes, and as JSON it is the same value', t => {
  const text = 'a\x1b[2J\x9b1m\u202egnp\u2028\ud800\u{e0041}ü🦊\n'
  t.equal(escapeText(text), 'a\\u001b[2J\\u009b1m\\u202egnp\\u2028\\ud800\\udb40\\udc41ü🦊\n')
  t.equal(escapeLine('a\nb\r'), 'a\\nb\\u000d')
  const json = JSON.stringify({ text })
  t.strictSame(JSON.parse(escapeText(json)), { text })
  t.end()
})
