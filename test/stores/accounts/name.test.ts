import fc from 'fast-check'
import t from 'tap'
import { generateName, isValidName } from '../../../src/stores/sqlite/accounts/name.ts'

t.test('printable names of 1 to 64 characters are valid', t => {
  const names = [
    'a',
    'My wallet (prod)',
    'Zürich',
    '東京',
    'Приложение №1',
    '🦊',
    'x'.repeat(64),
    '🦊'.repeat(64),
    'e\u0301',
  ]
  for (const name of names) t.ok(isValidName(name), name)
  t.end()
})

t.test('empty, blank, long and unprintable names are not', t => {
  const names = ['', ' ', '\u3000', 'x'.repeat(65), 'a\nb', 'a\tb', 'a\u0000', '\u007f', '\u0085', 'a\u200bb']
  names.push('\u202egnp.exe', '\ufeffa', 'a\u2028b', 'a\u2029b', '\ud800', '\ue000', 'a\u00ad')
  t.strictSame(names.filter(isValidName), [])
  t.end()
})

t.test('a generated name is valid and names the chain', t => {
  t.match(generateName('bsc'), /^bsc-endpoint-[a-z]{3}$/)
  t.equal(generateName('x'.repeat(100)).length, 64)
  fc.assert(fc.property(fc.stringMatching(/^[a-z0-9-]{1,200}$/), chain => isValidName(generateName(chain))))
  t.end()
})
