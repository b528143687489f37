/**
 * PostgreSQL and Redis away from all machines at once, under load, and back in either order: calls go on by what each machine knows, changes are refused,
 * and afterwards nothing is missing and limits are exact again.
 */
import t from 'tap'
import type { Test } from 'tap'
import { total } from '../support/client-ledger.ts'
import { startFaultyFleet } from '../support/faulty-fleet.ts'
import { AT_ONCE } from '../support/fleet-load.ts'
import type { Gateway } from '../support/gateway.ts'
import { get } from '../support/http.ts'
import { metric, metricIs } from '../support/metrics.ts'
import { noServers } from '../support/servers.ts'
import { at, becomes, makeAccess } from '../support/shared-accounts.ts'
import { until } from '../support/until.ts'

/** Calls that each machine answers meanwhile. */
const MANY = 50
/** Units of a quota, and calls of a burst that hardly comes back. */
const QUOTA = 200
const RATE = { perSecond: 0.5, burst: 100 }

t.test('PostgreSQL and Redis away from all machines', { skip: noServers, timeout: 180_000 }, async t => {
  const plans = {
    counted: { tiers: ['any'], quota: { requests: QUOTA, every: '30d' } },
    // All that is charged counts for a quota too: the tables of usage agree.
    slow: { tiers: ['any'], rate: RATE, quota: { requests: 1_000_000, every: '30d' } },
  }
  const fleet = await startFaultyFleet(t, { plans })
  const { gateways, accesses, load, postgres, redis } = fleet
  /** An account on all machines. */
  const limitedOn = async (plan: string) => {
    const access = await makeAccess(gateways[0]!, plan)
    const all = gateways.map(gateway => at(access, gateway))
    for (const one of all) await becomes(one, 'served', 'service_account')
    return load.limited(all)
  }
  const asks = (result: string) =>
    Promise.all(gateways.map(gateway => metric(gateway, 'tollgate_limit_asks_total', { result })))
  const failures = async () => (await asks('failed')).reduce((sum, count) => sum + count, 0)
  const limitsAre = async (away: 0 | 1) => {
    for (const gateway of gateways) await metricIs(gateway, 'tollgate_limit_store_away', {}, away)
  }
  const create = () =>
    Promise.all(
      accesses.map(async access => {
        const { error } = await access.manage('service_createEndpoint', [{ chain: 'alpha' }])
        return String(error?.data.reason ?? 'made')
      }),
    )
  const areStale = () =>
    Promise.all(
      accesses.map(async access => (await access.managed('service_usage', [{ by: 'hour' }])).stale === true),
    )
  /** Calls are served, so machines are ready, and so are their workers. */
  const isReady = async (t: Test, gateway: Gateway) => {
    const ready = await get(`${gateway.adminUrl}/readyz`)
    t.strictSame([ready.status, ready.text], [200, 'ok\n'])
    const { version, workers, networks } = JSON.parse((await get(`${gateway.adminUrl}/status`)).text)
    t.match(
      workers,
      [1, 2].map(slot => ({ slot, pid: Number, version })),
    )
    t.match(networks, [{ routes: [{ id: 'alpha-a', healthy: true }] }])
  }
  const goOn = async () => {
    const goals = load.loaded.map(({ ledger }) => ledger.heard + MANY)
    const isReached = () => load.loaded.every(({ ledger }, i) => ledger.heard >= goals[i]!)
    await until('calls are answered on all', () => Promise.resolve(isReached()))
  }

  const postgresIsBack = async (t: Test) => {
    await until('changes can be made', async () => (await create()).every(one => one === 'made'), 30_000)
    await until('usage is of all machines', async () => !(await areStale()).includes(true))
    for (const gateway of gateways) await isReady(t, gateway)
  }
  const redisIsBack = async () => {
    const before = await asks('answered')
    await limitsAre(0)
    const isHeard = async () => (await asks('answered')).every((count, i) => count > before[i]!)
    await until('all have said what they had given', isHeard)
  }

  const outages = {
    'both are killed, and PostgreSQL is there first': async (t: Test, isAway: () => Promise<void>) => {
      await Promise.all([postgres.kill(), redis.kill()])
      await isAway()
      await postgres.start()
      await postgresIsBack(t)
      await limitsAre(1)
      await redis.start()
      await redisIsBack()
    },
    'both hang, and Redis is there first': async (t: Test, isAway: () => Promise<void>) => {
      for (const server of [postgres, redis]) server.signal('SIGSTOP')
      await isAway()
      redis.signal('SIGCONT')
      await redisIsBack()
      t.strictSame(await create(), ['store_unavailable', 'store_unavailable'])
      postgres.signal('SIGCONT')
      await postgresIsBack(t)
    },
  }

  for (const [what, outage] of Object.entries(outages))
    await t.test(what, async t => {
      const made = await Promise.all(['counted', 'slow', 'slow'].map(limitedOn))
      const [counted, slow, unused] = made as [(typeof made)[0], (typeof made)[0], (typeof made)[0]]
      await load.send(50, async () => {
        const used = await load.spend(counted, AT_ONCE)
        const before = await load.spend(slow, 2 * AT_ONCE)
        const given = { quota: 0 }
        await outage(t, async () => {
          await limitsAre(1)
          t.strictSame(await create(), ['store_unavailable', 'store_unavailable'])
          t.strictSame(await areStale(), [true, true])
          for (const gateway of gateways) await isReady(t, gateway)
          await goOn()
          given.quota = await load.spend(counted, 3 * AT_ONCE)
          t.equal(given.quota, 3 * AT_ONCE, 'each has its part of a quota')
          const begin = performance.now()
          const rate = await load.spend(slow)
          const refilled = ((performance.now() - begin) / 1_000) * RATE.perSecond
          // Each gives at least an equal share of what was left, and at most all of it.
          const least = RATE.burst - before - AT_ONCE
          const most = gateways.length * (RATE.burst + refilled + 1) - before
          t.ok(rate >= least && rate <= most, `${rate} of a rate, of ${least} to ${most.toFixed(1)}`)
        })
        const failed = await failures()
        const begin = performance.now()
        const [rest, rate] = await Promise.all([load.spend(counted), load.spend(unused)] as const)
        const most = RATE.burst + ((performance.now() - begin) / 1_000) * RATE.perSecond + 1
        // On a machine that is too busy for Redis to answer in time nothing is exact.
        const late = (await failures()) - failed
        const left = QUOTA - used - given.quota
        t.ok(late > 0 || (rest <= left && rest > left - AT_ONCE), `${rest} of ${left} units, ${late} late`)
        t.ok(
          late > 0 || (rate >= RATE.burst && rate <= most),
          `${rate} of ${RATE.burst} to ${most.toFixed(1)}`,
        )
      })
      const lost = load.loaded.map(({ ledger }) => total(ledger.unheard).calls)
      t.strictSame(lost, [0, 0], 'every call was answered')
      await fleet.hold(t, what)
    })
  for (const gateway of gateways) t.equal(await metric(gateway, 'tollgate_spool_fenced'), 0)
})
