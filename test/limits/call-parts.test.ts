import t from 'tap'
import { Asking } from '../../src/limits/asking.ts'
import { LocalBuckets } from '../../src/limits/buckets.ts'
import { CallParts } from '../../src/limits/call-parts.ts'
import type { CallTakes } from '../../src/limits/call-parts.ts'
import type { Account, Payer, Price, Spender } from '../../src/ports/limits.ts'
import type { Endpoint } from '../../src/ports/endpoints.ts'
import type { Plan } from '../../src/snapshot/types.ts'
import { TestClock } from '../support/test-clock.ts'

const HOUR = 3_600_000
const limit = { perSecond: 10, burst: 20 }
const account = { id: 'acc_1', createdAt: 0 } as Account
const endpoint = { id: 'ep_1', dailyLimit: 50, limitedSince: 7 } as Endpoint
const planOf = (requests: number, rate: Plan['rate'] = limit): Plan =>
  ({ rate, quota: { requests, every: HOUR } }) as Plan
const spenderOf = (plan: Plan, endpointRate: Payer['endpointRate'] = null): Spender => ({
  plan,
  address: '127.0.0.1',
  payer: { account, endpoint, plan, endpointRate },
})

t.test(
  'a part is the same object from one call to the next, and for other units the same bucket',
  async t => {
    const parts = new CallParts()
    const plan = planOf(100)
    const [one, again] = [1, 1].map(units => parts.quota(account, plan, units, 0)!)
    t.equal(one, again)
    const more = parts.quota(account, plan, 5, 0)!
    t.strictSame([more.key, more.units], [one!.key, 5])

    const clock = new TestClock()
    const store = new LocalBuckets(clock, () => 0).of('one')
    const asking = new Asking({ store, clock, every: 25, processes: 1 })
    const take = async (units: number): Promise<number | null> =>
      asking.take(parts.rates(spenderOf(plan), { units, isRated: true })[0]!)
    t.strictSame([await take(1), await take(1), await take(5), await take(13)], [0, 0, 0, 0])
    t.equal(asking.level(parts.accountRate(account, limit)), 0, 'all took from one bucket')
    t.equal(await take(1), 100, 'which gives a token each 100 ms')
  },
)

t.test('another limit is another bucket, and a limit that is only made anew is the same', t => {
  const parts = new CallParts()
  const before = parts.accountRate(account, limit, 1)
  t.equal(parts.accountRate(account, { ...limit }, 1), before)
  t.equal(parts.accountRate(account, limit), before, 'of as many units as the last call')
  const after = parts.accountRate(account, { perSecond: 10, burst: 21 }, 1)
  t.not(after.key, before.key)
  t.equal(after.limit.burst, 21)

  const rates = (perSecond: number) =>
    parts.rates(spenderOf(planOf(1), { perSecond, burst: 5 }), { units: 1, isRated: true })
  t.equal(rates(3)[0], rates(3)[0])
  t.not(rates(4)[0]!.key, rates(3)[0]!.key)
  t.equal(rates(4)[1]!.key, before.key, 'behind the rate of the endpoint, that of the account')
  t.end()
})

t.test('a quota goes on in its next window, and a changed quota at once', t => {
  const parts = new CallParts()
  const first = parts.quota(account, planOf(100), 1, HOUR - 1)!
  t.strictSame(first.quota.window, { start: 0, end: 3600 })
  const second = parts.quota(account, planOf(100), 1, HOUR)!
  t.strictSame(second.quota.window, { start: 3600, end: 7200 })
  t.not(second.key, first.key)
  const larger = parts.quota(account, planOf(200), 1, HOUR)!
  t.strictSame([larger.key, larger.limit.burst], [second.key, 200], 'what was used of it stays used')
  t.equal(parts.quota(account, planOf(200), 1, HOUR - 1)!.key, first.key, 'also where the clock went back')
  t.end()
})

t.test('the day of an endpoint is over at midnight', t => {
  const parts = new CallParts()
  const { payer } = spenderOf(planOf(100))
  const DAY = 24 * HOUR
  const today = parts.day(payer!, 2, DAY - 1)!
  t.equal(parts.day(payer!, 2, DAY - 1), today)
  t.strictSame([today.units, today.limit.burst], [2, 50])
  t.not(parts.day(payer!, 2, DAY)!.key, today.key)
  t.equal(parts.day(payer!, 0, DAY), null, 'what costs nothing takes nothing of it')
  t.not(
    parts.day({ ...payer!, endpoint: { ...endpoint, limitedSince: 8 } }, 2, DAY - 1)!.key,
    today.key,
    'a limit that is set anew begins with what is left of it then',
  )
  t.end()
})

t.test('a call like the last one of its endpoint takes from the same list', t => {
  const parts = new CallParts()
  const price = { units: 2, isRated: true }
  const spender = spenderOf(planOf(100), limit)
  const DAY = 24 * HOUR
  const first = parts.ofCall(spender, price, DAY - 1)
  const keys = (takes: CallTakes): string[] => takes.parts.map(({ key }) => key)
  t.match(keys(first), [/ep_1:rate:10/, /acc_1}:rate:10/, /:day:ep_1:0:7/, /:quota:/], 'rates first')
  t.equal(first.quota, first.parts[3])
  t.equal(parts.ofCall({ ...spender }, { ...price }, DAY - 2), first)

  const other = (spenderNow: Spender, priceNow: Price, now = DAY - 1): string[] => {
    const last = parts.ofCall(spender, price, DAY - 1)
    const takes = parts.ofCall(spenderNow, priceNow, now)
    t.not(takes, last)
    return keys(takes)
  }
  const all = keys(first)
  const { payer, plan } = spender
  t.strictSame(other(spender, { ...price, units: 3 }), all)
  t.strictSame(other(spender, { ...price, isRated: false }), all.slice(2), 'quota alone')
  t.match(other(spender, { ...price, units: 0 }), [/management/, /:quota:/])
  for (const rate of [
    { ...limit, perSecond: 3 },
    { ...limit, burst: 3 },
  ])
    t.match(other(spenderOf(plan, rate), price), [
      `{acc_1}:ep_1:rate:${rate.perSecond}/${rate.burst}`,
      ...all.slice(1),
    ])
  t.match(other(spenderOf(planOf(100, null), limit), price), [all[0], ...all.slice(2)])
  t.strictSame(other({ ...spender, payer: { ...payer!, account: { ...account } } }, price), all, 'read anew')
  const unlimited = { ...endpoint, dailyLimit: null }
  const withoutDay = { ...spender, payer: { ...payer!, endpoint: unlimited } }
  const hour = parts.ofCall(withoutDay, price, HOUR - 1)
  t.not(parts.ofCall(withoutDay, price, HOUR), hour, 'the quota begins anew each hour')
  const day = spenderOf({ ...plan, quota: null })
  const lastDay = parts.ofCall(day, price, DAY - 1)
  t.equal(lastDay.quota, null)
  t.not(parts.ofCall(day, price, DAY), lastDay)
  t.match(other(spender, price, DAY), [all[0], all[1], /:day:ep_1:86400:7/, /:quota:3600000:86400/])
  const today = parts.ofCall(spender, price, DAY)
  t.not(parts.ofCall(spender, price, DAY - 1), today, 'also where the clock went back')
  t.strictSame(keys(parts.ofCall({ plan, payer: null, address: '::1' }, price, 0)), [
    '{address ::1}:rate:10/20',
  ])
  t.end()
})
