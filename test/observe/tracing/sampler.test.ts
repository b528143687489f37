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

const keep = { errors: true, slow: 100 }

/** How many of 200 failed calls are kept that end now; each is the next account's. */
function kept(keeper: Keeper, now: number, accounts: readonly (string | null)[]): number {
  const ends = Array.from({ length: 200 }, (_, i) => accounts[i % accounts.length]!)
  return ends.filter(account => keeper.why(keep, { account, isFault: true, ms: 0 }, now) === 'error').length
}

t.test('calls are kept for a fault or for their time, and no more than fifty a second', t => {
  const keeper = new Keeper()
  const failed = { account: 'acc_0', isFault: true, ms: 1_000 }
  t.equal(keeper.why(null, failed, 0), null)
  t.equal(keeper.why(keep, { ...failed, isFault: false, ms: 99.9 }, 0), null)
  t.equal(keeper.why({ errors: false, slow: null }, failed, 0), null)
  t.equal(keeper.why({ errors: false, slow: 100 }, { ...failed, ms: 99 }, 0), null)
  t.equal(keeper.why(keep, { ...failed, isFault: false, ms: 100 }, 0), 'slow')
  const many = Array.from({ length: 20 }, (_, i) => `acc_${i + 1}`)
  t.equal(kept(keeper, 10, many), 49, 'fifty in all')
  t.equal(kept(keeper, 999, ['acc_99']), 0)
  t.equal(kept(keeper, 1_000, many), 50, 'the next second has its own')
  t.end()
})

t.test('bug: one account whose calls all failed left no room for the failures of others', t => {
  const keeper = new Keeper()
  t.equal(kept(keeper, 0, ['acc_1']), 10)
  t.equal(kept(keeper, 0, [null]), 10, 'all callers without a key are as one')
  t.equal(kept(keeper, 0, ['acc_2']), 10)
  t.equal(kept(keeper, 1_000, ['acc_1']), 10, 'the next second has its own')
  t.end()
})
