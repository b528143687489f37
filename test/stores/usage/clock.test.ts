import { randomInt } from 'node:crypto'
import t from 'tap'
import { openUsageDatabase } from '../../../src/stores/sqlite/usage/database.ts'
import type { UsageDatabase } from '../../../src/stores/sqlite/usage/database.ts'
import { Ledger } from '../../../src/stores/sqlite/usage/ledger.ts'
import { Meter, type Admission } from '../../support/meter.ts'
import type { Payer } from '../../../src/ports/limits.ts'
import { windowAt } from '../../../src/limits/window.ts'
import { Random } from '../../support/random.ts'
import { closeToWrites, eventsTo, reading, usedOf } from './parts.ts'
import { until } from '../../support/until.ts'

const second = 1000
const hour = 3600 * second
const day = 24 * hour
/** The last minute of an hour, a day, a month and a year. */
const NOW = Date.UTC(2026, 11, 31, 23, 59, 30)

function payerOf(every: number | 'month', requests = 50): Payer {
  return {
    account: { id: 'acc_1', plan: 'free', createdAt: Math.floor((NOW - 10.5 * day) / 1000) },
    endpoint: { id: 'ep_1', network: 'eth', dailyLimit: null, limitedSince: 0 },
    plan: {
      name: 'free',
      tiers: ['any'],
      rate: { perSecond: 10, burst: 1_000 },
      quota: { requests, every },
      maxBatch: 10,
      alerts: null,
      managementKeys: 'all',
      ws: { connections: 1, subscriptions: 1 },
    },
    endpointRate: null,
  }
}

function open(dir: string): { database: UsageDatabase; ledger: Ledger; meter: Meter } {
  const database = openUsageDatabase(dir)
  const ledger = new Ledger(
    database,
    eventsTo(() => undefined),
  )
  return { database, ledger, meter: new Meter(ledger) }
}

function admitted(value: ReturnType<Meter['admit']>): Admission {
  if ('reason' in value) throw new Error(value.reason)
  return value
}

for (const every of [day, 'month'] as const)
  t.test(`a clock that jumps over the end of a window (${every}) and back opens no second quota`, async t => {
    const { ledger, meter } = open(t.testdir())
    const payer = payerOf(every)
    const spend = (cost: number, now: number) => meter.admit(payer, 'm', cost, now)
    const used = (now: number) => usedOf(meter.quota(payer.account, payer.plan, now))
    admitted(spend(40, NOW))
    const kept = admitted(spend(5, NOW))
    const next = NOW + 31 * day
    admitted(spend(50, next))
    t.match(spend(1, next), { reason: 'quota_exhausted' })
    for (const now of [NOW, NOW - second, NOW, next, NOW]) {
      t.equal(used(now), now === next ? 50 : 45)
      t.match(spend(6, now), { reason: 'quota_exhausted' }, 'no quota is gained by jumping back')
    }
    // Given back while the clock is elsewhere: to the window that it was taken from.
    t.equal(used(next), 50)
    await meter.giveBack(kept)
    t.equal(used(next), 50)
    t.equal(used(NOW), 40)
    admitted(spend(10, NOW))
    t.match(spend(1, NOW), { reason: 'quota_exhausted' })
    t.strictSame(ledger.totals('acc_1').get('ep_1'), { calls: 3, requests: 100 })
    ledger.close()
  })

t.test('a bucket neither fills nor sticks when the clock goes back', t => {
  const { ledger, meter } = open(t.testdir())
  const payer = payerOf(365 * day, 1_000_000)
  admitted(meter.admit(payer, 'm', 1_000, NOW))
  for (const back of [hour, day, 30 * day]) {
    const now = NOW - back
    t.match(
      meter.admit(payer, 'm', 1, now),
      { reason: 'rate_limited', data: { retryAfterMs: 100 } },
      'empty still',
    )
    t.equal(meter.rate(payer, now)?.remaining, 0)
    admitted(meter.admit(payer, 'm', 1, now + 100))
    t.match(
      meter.admit(payer, 'm', 1, now + 100),
      { reason: 'rate_limited' },
      'and not for the length of the jump',
    )
  }
  ledger.close()
  t.end()
})

t.test('a journal that failed is tried again after a moment, whatever the clock says meanwhile', async t => {
  const dir = t.testdir()
  const { database, ledger, meter } = open(dir)
  const payer = payerOf(day)
  const writable = closeToWrites(database)
  const lost = admitted(meter.admit(payer, 'm', 7, Date.now()))
  t.notOk(await meter.committed(lost))
  await meter.giveBack(lost)
  writable()
  const back = () => Date.now() - hour
  t.match(meter.admit(payer, 'm', 1, back()), { reason: 'journal_unavailable' })
  await until(
    'calls are admitted again',
    () => Promise.resolve(!('reason' in meter.admit(payer, 'm', 1, back()))),
    5_000,
  )
  t.strictSame(ledger.totals('acc_1').get('ep_1'), { calls: 1, requests: 1 })
  ledger.close()
})

t.test('a charge that fails while another window is asked for is taken back once', async t => {
  const dir = t.testdir()
  const { database, ledger, meter } = open(dir)
  const payer = payerOf(day)
  admitted(meter.admit(payer, 'm', 10, NOW))
  ledger.fold()
  const writable = closeToWrites(database)
  const lost = admitted(meter.admit(payer, 'm', 7, NOW))
  meter.quota(payer.account, payer.plan, NOW + 31 * day)
  t.equal(usedOf(meter.quota(payer.account, payer.plan, NOW)), 17, 'it is still under way')
  await meter.giveBack(lost)
  t.equal(usedOf(meter.quota(payer.account, payer.plan, NOW)), 10, 'not below what was used')
  writable()
  ledger.close()
})

t.test('totals and windows are exact wherever the clock goes', async t => {
  const random = new Random(randomInt(2 ** 32))
  t.comment(`seed ${random.seed}`)
  const dir = t.testdir()
  let { ledger, meter } = open(dir)
  const payer = payerOf(day, 300)
  const { account, plan } = payer
  const usedIn = new Map<number, number>()
  const sums = { calls: 0, requests: 0 }
  let flying: Admission[] = []
  let now = NOW
  const windowOf = () => windowAt(day, account.createdAt, now).start
  for (let step = 0; step < 3_000; step++) {
    now +=
      random.pick([1, 10, 500, second, -second, hour, -hour, day, -day]) * (random.below(4) === 0 ? 1 : 0) +
      100
    const cost = random.pick([1, 3, 5, 20])
    const used = usedIn.get(windowOf()) ?? 0
    const got = meter.admit(payer, random.pick(['a', 'b']), cost, now)
    if ('reason' in got && got.reason === 'rate_limited') now += 2 * second
    else if (used + cost > 300) t.match(got, { reason: 'quota_exhausted' })
    else {
      const admission = admitted(got)
      flying.push(admission)
      usedIn.set(admission.counter.window, used + cost)
      sums.calls++
      sums.requests += cost
    }
    if (flying.length > 10) {
      const gone = flying.splice(random.below(flying.length), 1)[0]!
      if (random.below(2) === 0) {
        const given = meter.giveBack(gone)
        usedIn.set(gone.counter.window, usedIn.get(gone.counter.window)! - gone.cost)
        sums.calls--
        sums.requests -= gone.cost
        if (random.below(2) === 0) await given
      } else meter.settle(gone, { error: true, bytesOut: 1, upstreamMs: 1 })
    }
    if (usedOf(meter.quota(account, plan, now)) !== (usedIn.get(windowOf()) ?? 0))
      t.equal(usedOf(meter.quota(account, plan, now)), usedIn.get(windowOf()) ?? 0, `step ${step}`)
    if (step % 500 === 499) ledger.fold()
    if (step % 1_000 === 999) {
      for (const call of flying) await meter.committed(call)
      flying = []
      ledger.close()
      ;({ ledger, meter } = open(dir))
    }
  }
  t.strictSame(ledger.totals('acc_1').get('ep_1'), sums)
  const rows = reading(dir).rows({ from: 0, to: NOW, by: 'hour' })
  t.ok(rows.length > 10, `hours of all kinds: ${rows.length}`)
  t.equal(
    rows.reduce((all, row) => all + row.requests, 0),
    sums.requests,
  )
  t.ok(
    rows.every(row => row.calls >= 0 && row.requests >= 0),
    'nothing is below nothing',
  )
  ledger.close()
})
