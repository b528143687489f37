import t from 'tap'
import { BadKeys } from '../../src/limits/bad-keys.ts'

const reason = (keys: BadKeys, address: string, now: number): string | null =>
  keys.count(address, now)?.reason ?? null

t.test('an address has twenty bad keys, and one more every three seconds', t => {
  const keys = new BadKeys()
  const first = Array.from({ length: 21 }, () => keys.count('a', 0)?.data ?? null)
  t.strictSame(first, [...Array.from({ length: 20 }, () => null), { retryAfterMs: 3_000 }])
  t.equal(reason(keys, 'b', 0), null, 'another address has its own')
  t.strictSame(
    [2_999, 3_001, 3_002].map(now => reason(keys, 'a', now)),
    ['too_many_bad_keys', null, 'too_many_bad_keys'],
  )
  t.end()
})

t.test('a refused try costs nothing further, and a clock that went back gives nothing', t => {
  const keys = new BadKeys()
  for (let i = 0; i < 1_000; i += 1) keys.count('a', 10_000)
  t.strictSame(
    [11_000, 5_000, 6_990, 7_010].map(now => reason(keys, 'a', now)),
    ['too_many_bad_keys', 'too_many_bad_keys', 'too_many_bad_keys', null],
    'three seconds of waiting, by the clock as it is',
  )
  t.end()
})

t.test('an address that goes on is remembered among more than can be', t => {
  const keys = new BadKeys()
  for (let i = 0; i < 20; i += 1) keys.count('a', 0)
  for (let i = 0; i < 150_000; i += 1) {
    keys.count(`other ${i}`, 0)
    if (i % 50_000 === 0) keys.count('a', 0)
  }
  t.equal(reason(keys, 'a', 0), 'too_many_bad_keys')
  t.equal(reason(keys, 'other 0', 0), null)
  t.end()
})
