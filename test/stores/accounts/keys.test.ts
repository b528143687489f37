import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import t from 'tap'
import { randomBase62, toBase62 } from '../../../src/stores/sqlite/accounts/secrets/base62.ts'
import { newAccountId, newEndpointId } from '../../../src/stores/sqlite/accounts/secrets/ids.ts'
import {
  isWellFormed,
  isWellFormedToken,
  mintKey,
  mintToken,
} from '../../../src/stores/sqlite/accounts/secrets/keys.ts'

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

t.test('a minted key is tg_, 32 characters and a checksum, and well formed', t => {
  const keys = Array.from({ length: 1000 }, mintKey)
  t.strictSame(
    keys.filter(key => !/^tg_[0-9A-Za-z]{38}$/.test(key) || !isWellFormed(key)),
    [],
  )
  t.end()
})

t.test('a minted token is tgd_, and neither passes for the other', t => {
  const token = mintToken()
  t.match(token, /^tgd_[0-9A-Za-z]{38}$/)
  t.ok(isWellFormedToken(token))
  t.notOk(isWellFormed(token))
  t.notOk(isWellFormedToken(mintKey()))
  t.notOk(isWellFormed(token.replace('tgd_', 'tg_')))
  t.end()
})

t.test('a known key keeps being well formed: the format is a promise to those who hold one', t => {
  t.ok(isWellFormed('tg_0123456789ABCDEFGHIJKLMNOPQRSTUV10DJZz'))
  t.ok(isWellFormedToken('tgd_0123456789ABCDEFGHIJKLMNOPQRSTUV0HF0mP'))
  t.end()
})

t.test('one wrong character anywhere makes a key malformed', t => {
  fc.assert(
    fc.property(
      fc.nat(40),
      fc.constantFrom(...Array.from(ALPHABET), '_', '-', 'é', ' ', '\n'),
      (at, character) => {
        const key = mintKey()
        fc.pre(key[at] !== character)
        return !isWellFormed(key.slice(0, at) + character + key.slice(at + 1))
      },
    ),
    { numRuns: 2000 },
  )
  t.end()
})

t.test('two neighbours swapped make a key malformed', t => {
  fc.assert(
    fc.property(fc.integer({ min: 3, max: 39 }), at => {
      const key = mintKey()
      fc.pre(key[at] !== key[at + 1])
      return !isWellFormed(key.slice(0, at) + key[at + 1]! + key[at]! + key.slice(at + 2))
    }),
  )
  t.end()
})

t.test('the right checksum does not make up for a wrong alphabet', t => {
  for (const character of ['-', '_', 'é', ' ', '\n']) {
    const body = `tg_${character.repeat(32)}`
    t.notOk(isWellFormed(body + toBase62(crc32(body), 6)), JSON.stringify(character))
  }
  t.end()
})

t.test('no other text is a key', t => {
  for (const text of ['', 'tg_', 'public', mintKey().slice(0, -1), `${mintKey()}0`, ` ${mintKey()}`]) {
    t.notOk(isWellFormed(text), text)
  }
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), text => !isWellFormed(text) && !isWellFormedToken(text)),
  )
  t.end()
})

t.test('keys never repeat, and their characters are equally likely', t => {
  const keys = new Set(Array.from({ length: 5000 }, mintKey))
  t.equal(keys.size, 5000)
  const counts = new Map<string, number>()
  const total = 200_000
  for (const character of randomBase62(total)) counts.set(character, (counts.get(character) ?? 0) + 1)
  t.equal(counts.size, 62)
  // Chi-squared with 61 degrees of freedom; a byte modulo 62 gives about 4000 here. 140 has a chance of 1 in 30 million.
  const expected = total / 62
  let chi = 0
  for (const count of counts.values()) chi += (count - expected) ** 2 / expected
  t.ok(chi < 140, `chi-squared ${chi}`)
  t.end()
})

t.test('base62 of every 32-bit checksum fits its six characters, without collisions', t => {
  t.equal(toBase62(0, 6), '000000')
  t.equal(toBase62(61, 6), '00000z')
  t.equal(toBase62(62, 6), '000010')
  const back = (text: string) =>
    Array.from(text).reduce((value, digit) => value * 62 + ALPHABET.indexOf(digit), 0)
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 0xffffffff }), value => {
      const text = toBase62(value, 6)
      return text.length === 6 && back(text) === value
    }),
  )
  t.end()
})

t.test('ids say what they are of', t => {
  t.match(newAccountId(), /^acc_[0-9A-Za-z]{16}$/)
  t.match(newEndpointId(), /^ep_[0-9A-Za-z]{16}$/)
  t.not(newEndpointId(), newEndpointId())
  t.end()
})
