import t from 'tap'
import { Keeper, Sampler } from '../../../src/observe/tracing/sampler.ts'

/** How many of a million calls are sampled, from one seed. */
function sampled(part: number, calls = 1_000_000): number {
  const sampler = new Sampler(20_261_126)
  sampler.part = part
  let count = 0
  for (let i = 0; i < calls; i += 1) if (sampler.next()) count += 1
  return count
}

t.test('none, all, and the part that is asked for', t => {
  t.equal(sampled(0), 0)
  t.equal(sampled(1), 1_000_000)
  const hundredth = sampled(0.01)
  t.ok(hundredth > 9_500 && hundredth < 10_500, String(hundredth))
  const thousandth = sampled(0.001)
  t.ok(thousandth > 850 && thousandth < 1_150, String(thousandth))
  t.equal(new Set([1, 2, 3, 4].map(seed => new Sampler(seed)).map(each => each.next())).has(true), false)
  t.end()
})

t.test('calls are kept for a fault or for their time, and no more than fifty a second', t => {
  const keeper = new Keeper()
  const keep = { errors: true, slow: 100 }
  t.equal(keeper.why(null, { isFault: true, ms: 1_000 }, 0), null)
  t.equal(keeper.why(keep, { isFault: false, ms: 99.9 }, 0), null)
  t.equal(keeper.why({ errors: false, slow: null }, { isFault: true, ms: 1_000 }, 0), null)
  t.equal(keeper.why({ errors: false, slow: 100 }, { isFault: true, ms: 99 }, 0), null)
  const kept = (now: number): number =>
    Array.from({ length: 200 }, () => keeper.why(keep, { isFault: true, ms: 0 }, now)).filter(
      why => why === 'error',
    ).length
  t.equal(keeper.why(keep, { isFault: false, ms: 100 }, 0), 'slow')
  t.equal(kept(10), 49, 'fifty in all')
  t.equal(kept(999), 0)
  t.equal(kept(1_000), 50, 'the next second has its own')
  t.end()
})
