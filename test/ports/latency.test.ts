import fc from 'fast-check'
import t from 'tap'
import { BOUNDS, bucketOf, BUCKETS, noLatency, percentile, shownLatency } from '../../src/ports/latency.ts'

/** The counts of some calls, in milliseconds. */
function counted(calls: readonly number[]): number[] {
  const latency = noLatency()
  for (const ms of calls) latency[bucketOf(ms)]! += 1
  return latency
}

t.test('a call is in the first bucket whose bound it does not exceed', t => {
  const bucket = (ms: number) => BUCKETS[bucketOf(ms)]
  t.strictSame([0.001, 1, 1.001, 2, 5, 5.2].map(bucket), ['1', '1', '2', '2', '5', '10'])
  t.strictSame([5000, 5000.1, 3_600_000].map(bucket), ['5000', 'more', 'more'])
  t.end()
})

t.test('an estimate is in the bucket of the true percentile, whatever the calls are', t => {
  const ms = fc.oneof(fc.double({ min: 0.001, max: 6000, noNaN: true }), fc.constantFrom(...BOUNDS))
  fc.assert(
    fc.property(
      fc.array(ms, { minLength: 1, maxLength: 200 }),
      fc.integer({ min: 1, max: 100 }),
      (calls, of) => {
        const share = of / 100
        const truth = [...calls].sort((a, b) => a - b)[Math.ceil((of * calls.length) / 100) - 1]!
        const estimate = percentile(counted(calls), share)!
        const [above, upTo] = [BOUNDS[bucketOf(truth) - 1] ?? 0, BOUNDS[bucketOf(truth)] ?? 5000]
        return estimate >= above && estimate <= upTo
      },
    ),
  )
  t.end()
})

t.test('calls are spread evenly over their bucket, and over all bounds only the last is known', t => {
  t.equal(percentile(counted(Array.from({ length: 100 }, () => 15)), 0.5), 15)
  t.equal(percentile(counted([3, 3, 3, 30]), 0.75), 5)
  t.equal(percentile(counted([3, 60_000, 60_000]), 0.5), 5000)
  t.equal(percentile(noLatency(), 0.5), null)
  t.end()
})

t.test('readers are shown both percentiles and what they were estimated from, or nothing', t => {
  t.strictSame(shownLatency(counted([3, 3, 3, 30])), { p50: 4, p95: 44, buckets: { 5: 3, 50: 1 } })
  t.equal(shownLatency(noLatency()), null)
  t.equal(shownLatency([]), null)
  t.end()
})
