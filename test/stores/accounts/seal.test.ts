import { createSecretKey, randomBytes } from 'node:crypto'
import fc from 'fast-check'
import t from 'tap'
import { hashKey } from '../../../src/stores/sqlite/accounts/secrets/hash.ts'
import { open, seal } from '../../../src/stores/sqlite/accounts/secrets/seal.ts'

const masterKey = createSecretKey(randomBytes(32))

t.test('what was sealed opens again', t => {
  fc.assert(
    fc.property(fc.string(), fc.string({ unit: 'grapheme' }), (owner, text) => {
      return open(masterKey, owner, seal(masterKey, owner, text)) === text
    }),
  )
  t.end()
})

t.test('the same key sealed twice looks different, and shows nothing of itself', t => {
  const first = seal(masterKey, 'ep_1', 'tg_secret')
  const second = seal(masterKey, 'ep_1', 'tg_secret')
  t.notOk(first.equals(second))
  t.notOk(first.includes('tg_'))
  t.end()
})

t.test('it opens for no other endpoint and with no other master key', t => {
  const sealed = seal(masterKey, 'ep_1', 'tg_secret')
  t.throws(() => open(masterKey, 'ep_2', sealed))
  t.throws(() => open(createSecretKey(randomBytes(32)), 'ep_1', sealed))
  t.end()
})

t.test('it opens with no byte changed, cut or added', t => {
  const sealed = seal(masterKey, 'ep_1', 'tg_secret')
  for (let at = 0; at < sealed.length; at++) {
    const changed = Buffer.from(sealed)
    changed[at]! ^= 1
    t.throws(() => open(masterKey, 'ep_1', changed), `byte ${at}`)
    t.throws(() => open(masterKey, 'ep_1', sealed.subarray(0, at)), `cut at ${at}`)
  }
  t.throws(() => open(masterKey, 'ep_1', Buffer.concat([sealed, Buffer.of(0)])))
  t.end()
})

t.test('the hash is SHA-256', t => {
  t.equal(hashKey('abc').toString('hex'), 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
  t.end()
})
