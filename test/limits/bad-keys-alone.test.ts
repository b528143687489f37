/** Bad keys where one process is all. */
import t from 'tap'
import { BadKeys } from '../../src/limits/bad-keys.ts'
import { LocalBuckets } from '../../src/limits/buckets.ts'
import type { Refusal } from '../../src/refusal/refusal.ts'

function alone() {
  const clock = { at: 0, monotonic: () => clock.at }
  const keys = new BadKeys(new LocalBuckets(clock, () => 0), 1)
  const count = (address: string, now: number): Refusal | null => {
    clock.at = now
    return keys.count(address, now) as Refusal | null
  }
  return { count, reason: (address: string, now: number) => count(address, now)?.reason ?? null }
}

t.test('an address has twenty bad keys, and one more every three seconds', t => {
  const { count, reason } = alone()
  const first = Array.from({ length: 21 }, () => count('a', 0)?.data ?? null)
  t.strictSame(first, [...Array.from({ length: 20 }, () => null), { retryAfterMs: 3_000 }])
  t.equal(reason('b', 0), null, 'another address has its own')
  t.strictSame(
    [2_999, 3_001, 3_002].map(now => reason('a', now)),
    ['too_many_bad_keys', null, 'too_many_bad_keys'],
  )
  t.end()
})

t.test('a refused try costs nothing further, and a clock that went back gives nothing', t => {
  const { count, reason } = alone()
  for (let i = 0; i < 1_000; i += 1) count('a', 10_000)
  t.strictSame(
    [11_000, 5_000, 6_990, 7_010].map(now => reason('a', now)),
    ['too_many_bad_keys', 'too_many_bad_keys', 'too_many_bad_keys', null],
    'three seconds of waiting, by the clock as it is',
  )
  t.end()
})

t.test('an address that goes on is remembered among more than can be', t => {
  const { count, reason } = alone()
  for (let i = 0; i < 20; i += 1) count('a', 0)
  for (let i = 0; i < 150_000; i += 1) {
    count(`other ${i}`, 0)
    if (i % 50_000 === 0) count('a', 0)
  }
  t.equal(reason('a', 0), 'too_many_bad_keys')
  t.equal(reason('other 0', 0), null)
  t.end()
})
