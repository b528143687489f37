/** What every implementation of the port Limits keeps to: over the buckets of one process, over those that processes share, and a plain one. */
import t from 'tap'
import { Asking } from '../../src/limits/asking.ts'
import { LocalBuckets } from '../../src/limits/buckets.ts'
import type { Grant, Limits, Payer, Spender } from '../../src/ports/limits.ts'
import { isRefusal } from '../../src/refusal/refusal.ts'
import type { Refusal } from '../../src/refusal/refusal.ts'
import type { Plan } from '../../src/snapshot/types.ts'
import { Timed } from '../support/timed-limits.ts'
import { PlainLimits } from '../support/plain-limits.ts'

/** What the ledger says was used before. */
type Used = () => number | null

const implementations: Readonly<Record<string, (used: Used) => Limits>> = {
  alone: used => new Timed(null, clock => new LocalBuckets(clock, used)),
  plain: used => new PlainLimits(used),
  shared: used =>
    new Timed(used, clock => {
      const store = new LocalBuckets(clock, used).of('one')
      return new Asking({ store, clock, every: 25, processes: 2 })
    }),
}

const plan: Plan = {
  name: 'paid',
  tiers: ['any'],
  rate: { perSecond: 10, burst: 20 },
  quota: { requests: 100, every: 3_600_000 },
  maxBatch: 10,
  alerts: null,
  managementKeys: 'all',
  ws: { connections: 1, subscriptions: 1 },
}
const NOW = 1_800_000_000_000
const START = 1_800_000_000

function spenderOf(change: Partial<Payer> = {}): Spender {
  const payer: Payer = {
    account: { id: 'acc_1', plan: 'free', createdAt: START },
    endpoint: { id: 'ep_1', network: 'eth', dailyLimit: null, limitedSince: 0 },
    plan,
    endpointRate: null,
    ...change,
  }
  return { payer, plan: payer.plan, address: '192.0.2.1' }
}

const rated = (units: number) => ({ units, isRated: true })
const unrated = (units: number) => ({ units, isRated: false })

/** `ok`, or the reason. */
function said(taken: Grant | Refusal): string {
  return isRefusal(taken) ? taken.reason : 'ok'
}

async function granted(limits: Limits, spender: Spender, units: number, now = NOW): Promise<Grant> {
  const taken = await limits.take(spender, rated(units), now)
  if (isRefusal(taken)) throw new Error(taken.reason)
  return taken
}

for (const [name, make] of Object.entries(implementations)) {
  const limitsWith = (used: number | null = 0): Limits => make(() => used)

  t.test(`${name}: the rate is a bucket, and a refusal says when to come again`, async t => {
    const limits = limitsWith()
    const spender = spenderOf()
    t.equal(said(await limits.take(spender, rated(20), NOW)), 'ok')
    const refusal = await limits.take(spender, rated(5), NOW)
    t.match(refusal, {
      reason: 'rate_limited',
      data: { retryAfterMs: 500, limit: 10 },
      message: 'Rate limit exceeded: 10 request units per second; this call costs 5',
    })
    t.equal(said(await limits.take(spender, rated(5), NOW + 499)), 'rate_limited')
    t.equal(said(await limits.take(spender, rated(5), NOW + 500)), 'ok')
    t.match(limits.rate(spender, NOW + 500), { limit: 20, remaining: 0, reset: START + 3 })
    t.equal(said(await limits.take(spender, unrated(5), NOW + 500)), 'ok', 'a notification takes no rate')
  })

  t.test(`${name}: a refused call takes nothing`, async t => {
    const limits = limitsWith(90)
    const spender = spenderOf()
    t.equal(said(await limits.take(spender, rated(11), NOW)), 'quota_exhausted')
    t.match(limits.rate(spender, NOW), { remaining: 20 })
    t.strictSame(await limits.quota({ id: 'acc_1', plan: 'free', createdAt: START }, plan, NOW), {
      requests: 100,
      used: 90,
      resetsAt: START + 3600,
    })
    const byEndpoint = spenderOf({ endpointRate: { perSecond: 1, burst: 3 } })
    t.match(await limits.take(byEndpoint, rated(4), NOW), {
      reason: 'rate_limited',
      message: 'Rate limit exceeded: 1 request unit per second; this call costs 4',
    })
    t.match(
      limits.rate(byEndpoint, NOW),
      { remaining: 20 },
      'what the endpoint has no rate for is not the account’s',
    )
  })

  t.test(`${name}: what is given back may be taken again, rate and quota`, async t => {
    const limits = limitsWith()
    const spender = spenderOf()
    const grant = await granted(limits, spender, 20)
    t.strictSame([grant.units, grant.period], [20, START])
    grant.giveBack()
    t.match(limits.rate(spender, NOW), { remaining: 20 })
    t.match(await limits.quota({ id: 'acc_1', plan: 'free', createdAt: START }, plan, NOW), { used: 0 })
    const [first, second] = [await granted(limits, spender, 10), await granted(limits, spender, 10)]
    first.giveBack()
    t.equal(second.units, 10)
    t.equal(said(await limits.take(spender, unrated(91), NOW)), 'quota_exhausted')
    t.equal(said(await limits.take(spender, unrated(90), NOW)), 'ok')
  })

  t.test(
    `${name}: a quota begins anew with its period, and one that cannot be read lets nobody in`,
    async t => {
      let used: number | null = 95
      const limits = make(() => used)
      const spender = spenderOf()
      t.equal(said(await limits.take(spender, rated(6), NOW)), 'quota_exhausted')
      used = null
      t.equal(said(await limits.take(spender, rated(6), NOW + 3_600_000)), 'journal_unavailable')
      used = 0
      const grant = await granted(limits, spender, 6, NOW + 3_600_000)
      t.equal(grant.period, START + 3600)
    },
  )

  const limited = (dailyLimit: number | null, change: Partial<Payer> = {}, limitedSince = 1): Spender =>
    spenderOf({ endpoint: { id: 'ep_1', network: 'eth', dailyLimit, limitedSince }, ...change })
  const unbound: Plan = { ...plan, rate: null, quota: null }
  const midnight = Math.ceil(NOW / 86_400_000) * 86_400

  t.test(`${name}: an endpoint uses no more in a day than its daily limit, to the last unit`, async t => {
    const limits = limitsWith(90)
    const spender = limited(100, { plan: unbound })
    t.match(await limits.take(spender, rated(11), NOW), {
      reason: 'quota_exhausted',
      data: { scope: 'endpoint', resetsAt: midnight },
    })
    t.match(await granted(limits, spender, 10), { units: 10, at: NOW, period: 0 })
    t.equal(said(await limits.take(spender, unrated(1), NOW)), 'quota_exhausted', 'a notification counts too')
    t.equal(said(await limits.take(spender, unrated(0), NOW)), 'ok', 'what costs nothing spends nothing')
    const other = spenderOf({
      endpoint: { id: 'ep_2', network: 'eth', dailyLimit: null, limitedSince: 0 },
      plan: unbound,
    })
    t.equal(said(await limits.take(other, rated(20), NOW)), 'ok', 'the others go on')
  })

  t.test(`${name}: the day of an endpoint begins at midnight in UTC`, async t => {
    let used: number | null = 9
    const limits = make(() => used)
    const spender = limited(10, { plan: unbound })
    t.equal(said(await limits.take(spender, rated(1), midnight * 1000 - 1)), 'ok')
    t.equal(said(await limits.take(spender, rated(1), midnight * 1000 - 1)), 'quota_exhausted')
    used = null
    t.equal(said(await limits.take(spender, rated(1), midnight * 1000)), 'journal_unavailable')
    used = 0
    t.equal(said(await limits.take(spender, rated(10), midnight * 1000)), 'ok')
    const refusal = await limits.take(spender, rated(1), midnight * 1000 + 1)
    t.match(refusal, { reason: 'quota_exhausted', data: { resetsAt: midnight + 86_400 } })
  })

  t.test(
    `${name}: what the daily limit refuses takes nothing, nor takes the day what the quota refuses`,
    async t => {
      const account = { id: 'acc_1', plan: 'free', createdAt: START }
      const limits = limitsWith()
      t.equal(said(await limits.take(limited(5), rated(6), NOW)), 'quota_exhausted')
      t.match(limits.rate(limited(5), NOW), { remaining: 20 })
      t.match(await limits.quota(account, plan, NOW), { used: 0 })
      const small: Plan = { ...plan, quota: { requests: 3, every: 3_600_000 } }
      t.match(await limits.take(limited(5, { plan: small }), rated(4), NOW), {
        reason: 'quota_exhausted',
        data: { scope: 'account', resetsAt: START + 3600 },
      })
      t.equal(said(await limits.take(limited(5), rated(5), NOW)), 'ok')
    },
  )

  t.test(`${name}: a daily limit that is given back may be taken again`, async t => {
    const limits = limitsWith()
    const spender = limited(10)
    for (let i = 0; i < 2; i += 1) {
      const grant = await granted(limits, spender, 10)
      t.equal(said(await limits.take(spender, rated(1), NOW)), 'quota_exhausted')
      grant.giveBack()
    }
    t.equal(said(await limits.take(spender, rated(10), NOW)), 'ok')
  })

  t.test(`${name}: another daily limit holds for what is used of the day`, async t => {
    const limits = limitsWith()
    const at = (dailyLimit: number | null, units: number, ms: number) =>
      limits.take(limited(dailyLimit, { plan: unbound }), rated(units), NOW + ms)
    t.equal(said(await at(1_000, 50, 0)), 'ok')
    t.equal(said(await at(60, 11, 100)), 'quota_exhausted', 'lowered')
    t.equal(said(await at(60, 10, 200)), 'ok')
    t.equal(said(await at(60, 1, 300)), 'quota_exhausted')
    t.equal(said(await at(20, 1, 400)), 'quota_exhausted', 'below what is used')
    t.equal(said(await at(70, 10, 500)), 'ok', 'raised')
    t.equal(said(await at(70, 1, 600)), 'quota_exhausted')
    t.equal(said(await at(null, 20, 700)), 'ok', 'lifted')
  })

  t.test(`${name}: what was used while there was no limit counts once there is one again`, async t => {
    let used = 0
    const limits = make(() => used)
    const at = (dailyLimit: number | null, since: number, units: number) =>
      limits.take(limited(dailyLimit, { plan: unbound }, since), rated(units), NOW)
    t.equal(said(await at(10, 1, 10)), 'ok')
    t.equal(said(await at(null, 1, 30)), 'ok')
    used = 40
    t.equal(said(await at(45, 2, 6)), 'quota_exhausted')
    t.equal(said(await at(45, 2, 5)), 'ok')
  })

  t.test(`${name}: a daily limit holds when calls race`, async t => {
    const limits = limitsWith()
    const spender = limited(30, { plan: unbound })
    const taken = await Promise.all(
      Array.from({ length: 100 }, async () => limits.take(spender, rated(1), NOW)),
    )
    t.equal(taken.filter(each => said(each) === 'ok').length, 30)
  })

  t.test(`${name}: nothing is free of any limit`, async t => {
    const limits = limitsWith()
    const spender = spenderOf()
    for (let call = 0; call < 30; call += 1) t.equal(said(await limits.take(spender, rated(0), NOW)), 'ok')
    t.equal(said(await limits.take(spender, rated(0), NOW)), 'rate_limited')
    t.match(
      await limits.takeManagement({ id: 'acc_1', plan: 'free', createdAt: START }, NOW),
      { reason: 'rate_limited', message: 'Rate limit exceeded: 10 management calls per second' },
      'management calls share it',
    )
    t.equal(
      await limits.takeManagement({ id: 'acc_2', plan: 'free', createdAt: START }, NOW),
      null,
      'by account',
    )
    t.match(limits.rate(spender, NOW), { remaining: 20 })
  })

  t.test(`${name}: callers of the public route are held to the rate by address`, async t => {
    const limits = limitsWith()
    const from = (address: string): Spender => ({ payer: null, plan, address })
    const grant = await granted(limits, from('192.0.2.1'), 20)
    t.equal(grant.period, 0)
    t.equal(
      said(await limits.take(from('192.0.2.1'), rated(0), NOW)),
      'rate_limited',
      'a free call takes one',
    )
    t.equal(said(await limits.take(from('192.0.2.2'), rated(0), NOW)), 'ok')
    grant.giveBack()
    t.match(limits.rate(from('192.0.2.1'), NOW), { remaining: 20 })
    t.equal(limits.rate({ ...from('192.0.2.3'), plan: { ...plan, rate: null } }, NOW), null)
  })

  t.test(`${name}: a limit holds when calls race`, async t => {
    const limits = limitsWith()
    const taken = await Promise.all(
      Array.from({ length: 100 }, async () => limits.take(spenderOf(), rated(1), NOW)),
    )
    t.equal(taken.filter(each => said(each) === 'ok').length, 20)
  })
}
