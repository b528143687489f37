/** What one process holds of buckets. */
import t from 'tap'
import { LocalBuckets } from '../../src/limits/buckets.ts'

t.test('bug: strangers from half a million addresses had an account begin with a full rate again', t => {
  const clock = { monotonic: () => 0 }
  const buckets = new LocalBuckets(clock, () => 0)
  const limit = { perSecond: 1, burst: 5 }
  const account = { key: '{acc_1}:rate:1/5', limit, units: 5 }
  t.equal(buckets.take(account, 0), 0)
  for (let i = 0; i < 500_000; i += 1) buckets.take({ key: `{address ${i}}:rate:1/5`, limit, units: 1 }, 0)
  t.equal(buckets.take({ ...account, units: 1 }, 0), 1_000)
  t.end()
})
