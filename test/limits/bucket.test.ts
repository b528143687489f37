import t from 'tap'
import { newBucket, putBack, rateState, take } from '../../src/limits/bucket.ts'

const limit = { perSecond: 10, burst: 30 }

t.test('a burst, then the even rate', t => {
  const bucket = newBucket(limit, 0)
  t.equal(take(bucket, limit, 30, 0), 0)
  t.equal(take(bucket, limit, 1, 0), 100, 'one token comes every 100 ms')
  t.equal(take(bucket, limit, 1, 50), 50)
  t.equal(take(bucket, limit, 1, 100), 0)
  t.equal(take(bucket, limit, 5, 100), 500)
  t.end()
})

t.test('never more than the burst, also after a lowered limit or a clock that went back', t => {
  const bucket = newBucket(limit, 1_000)
  t.equal(take(bucket, limit, 0, 500), 0)
  t.equal(bucket.tokens, 30)
  take(bucket, limit, 10, 500)
  putBack(bucket, limit, 1_000)
  t.equal(bucket.tokens, 30)
  t.equal(take(bucket, { perSecond: 1, burst: 5 }, 6, 500), 1000)
  t.end()
})

t.test('the headers say what is left and when it is full again', t => {
  const bucket = newBucket(limit, 10_000)
  take(bucket, limit, 20, 10_000)
  t.strictSame(rateState(bucket, limit, 10_000), { limit: 30, remaining: 10, reset: 12 })
  t.end()
})
