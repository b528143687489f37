/**
 * What may fail in a fleet, under load: whatever it is, all that clients were answered is in the ledger of all once, and at every moment PostgreSQL has
 * nothing else.
 */
import { Agent } from 'node:http'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import type { Test } from 'tap'
import { total } from '../support/client-ledger.ts'
import { cannotLimitFiles, limitFiles } from '../support/cramped-disk.ts'
import { startFaultyFleet, TIMEOUT } from '../support/faulty-fleet.ts'
import { startKeeperProxy } from '../support/keeper-proxy.ts'
import { metric, metricIs } from '../support/metrics.ts'
import { noServers } from '../support/servers.ts'
import { at, makeAccess } from '../support/shared-accounts.ts'
import { until } from '../support/until.ts'
import { kill9 } from '../support/workers.ts'

/** `KILLS=100` for a long run, `FAULTS=Redis` for those whose name matches. */
const rounds = Number(process.env['KILLS'] ?? 1)
const wanted = new RegExp(process.env['FAULTS'] ?? '')
/** Milliseconds for which a server hangs, and for which other things fail: longer than two questions wait for them. */
const HANGS = 10_000
const FAILS = 2_500
/** Milliseconds that a busy machine may add to an answer. */
const SLACK = 3_500
/** Units of a quota that is spent while answers of Redis are lost. */
const QUOTA = 200
/** Calls that are made of it at once, at each machine. */
const AT_ONCE = 10

t.test('faults of a fleet', { skip: noServers, timeout: 280_000 }, async t => {
  const plans = { counted: { tiers: ['any'], quota: { requests: QUOTA, every: '30d' } } }
  const fleet = await startFaultyFleet(t, { plans })
  const { gateways, accesses, load, random, postgres, redis, toPostgres, toRedis } = fleet
  const anyone = () => random.below(gateways.length)
  /** Calls are answered on all machines for so many milliseconds. */
  const goOn = async (t: Test, ms: number): Promise<void> => {
    const heard = () => load.loaded.map(({ ledger }) => ledger.heard)
    const before = heard()
    await pause(ms)
    const more = heard().map((count, i) => count - before[i]!)
    t.ok(Math.min(...more) > 0, `${more.join(' and ')} calls were answered`)
  }
  /** What each machine has charged at least before the present load. */
  const charged = gateways.map(() => 0)
  /** Without PostgreSQL: changes are refused in time, and each machine says all that it has charged. */
  const isAway = async (t: Test): Promise<void> => {
    for (const [i, access] of accesses.entries()) {
      const begin = performance.now()
      const { error } = await access.call('service_createEndpoint', [{ chain: 'alpha' }])
      const took = performance.now() - begin
      t.equal(error.data.reason, 'store_unavailable')
      t.ok(took < TIMEOUT + SLACK, `it is refused behind ${Math.round(took)} ms`)
      const told = charged[i]! + total(load.loaded[i]!.ledger.told).requests
      const usage = await access.managed('service_usage', [{ by: 'hour' }])
      const sum = usage.rows.reduce((sum: number, { requests }: { requests: number }) => sum + requests, 0)
      t.ok(usage.stale === true && sum >= told, `it has ${sum} units, clients know of ${told}`)
    }
  }

  const faults: Readonly<Record<string, (t: Test) => void | Promise<void>>> = {
    'a worker is killed': async () => {
      const i = anyone()
      const worker = random.pick((await fleet.crews())[i]!.workers)
      await load.answered(i)
      kill9(worker)
    },
    'a keeper is killed': async () => {
      kill9((await fleet.crews())[anyone()]!.keeper)
    },
    'a primary is killed': () => fleet.restart(anyone(), gateway => gateway.kill9()),
    'all of a machine is killed': () => {
      const i = anyone()
      return fleet.restart(i, async (gateway, pids) => {
        await load.answered(i)
        pids.forEach(kill9)
        await gateway.exited
      })
    },
    'a worker, a keeper and PostgreSQL are killed': async () => {
      const { keeper, workers } = (await fleet.crews())[anyone()]!
      await postgres.kill()
      kill9(random.pick(workers))
      kill9(keeper)
      await pause(500)
      await postgres.start()
    },
    'workers never hear that a keeper has taken their usage': async t => {
      const i = anyone()
      const { workers } = (await fleet.crews())[i]!
      const way = await startKeeperProxy(t, join(gateways[i]!.dir, 'data'))
      // Those that follow go by it.
      workers.forEach(kill9)
      await until('they have handed it over again', () => Promise.resolve(way.lost > 1), 30_000)
      await way.end()
    },
    'PostgreSQL hangs': async t => {
      const begin = performance.now()
      postgres.signal('SIGSTOP')
      await isAway(t)
      await goOn(t, Math.max(FAILS, HANGS - (performance.now() - begin)))
      postgres.signal('SIGCONT')
    },
    'PostgreSQL is killed, and a machine is started anew without it': async t => {
      await postgres.kill()
      await isAway(t)
      const i = anyone()
      await fleet.restart(i, gateway => gateway.stop())
      t.equal((await accesses[i]!.call('service_account')).result.plan, 'paid', 'known keys are served')
      await postgres.start()
    },
    'Redis hangs': async t => {
      redis.signal('SIGSTOP')
      for (const gateway of gateways) await metricIs(gateway, 'tollgate_limit_store_away', {}, 1)
      await goOn(t, HANGS)
      redis.signal('SIGCONT')
      for (const gateway of gateways) await metricIs(gateway, 'tollgate_limit_store_away', {}, 0)
    },
    'Redis is killed': async () => {
      await redis.kill()
      for (const gateway of gateways) await metricIs(gateway, 'tollgate_limit_store_away', {}, 1)
      await redis.start()
      for (const gateway of gateways) await metricIs(gateway, 'tollgate_limit_store_away', {}, 0)
    },
    'a machine is cut off from both': async t => {
      const i = anyone()
      const ways = [toPostgres[i]!, toRedis[i]!]
      for (const way of ways) way.isStalled = true
      await metricIs(gateways[i]!, 'tollgate_limit_store_away', {}, 1)
      await goOn(t, FAILS)
      for (const way of ways) way.isStalled = false
      await metricIs(gateways[i]!, 'tollgate_limit_store_away', {}, 0)
    },
    'connections to PostgreSQL end at any moment': async () => {
      for (let time = 0; time < 20; time += 1) {
        await pause(random.below(100))
        await fleet.query(
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'machine-%'",
        )
      }
    },
    'COMMITs and their replies are lost': async () => {
      const losses = ['commit', 'reply', 'silence', 'backend before', 'backend after'] as const
      for (const first of losses.keys())
        await Promise.all(
          toPostgres.map(
            (way, i) =>
              new Promise<void>(resolve => {
                way.loseNext(losses[(first + i) % losses.length]!, resolve)
              }),
          ),
        )
    },
    'answers of Redis are lost': async t => {
      const access = await makeAccess(gateways[0]!, 'counted')
      const clients = load.limited(gateways.map(gateway => at(access, gateway)))
      for (const { access } of clients)
        await until(
          'the key is known',
          async () => (await access.call('service_account')).result !== undefined,
        )
      let lost = 0
      const agent = new Agent({ keepAlive: true })
      const served = () => clients.reduce((sum, { ledger }) => sum + total(ledger.told).calls, 0)
      const isRefused = () =>
        clients.every(({ ledger }) => (ledger.refusals.get('quota_exhausted') ?? 0) > 10)
      // What the last lost answers granted is known to be free with the next ones that come, and what a process holds to spare after a second.
      let idle = 0
      const spend = async (): Promise<boolean> => {
        const before = served()
        const isLosing = before < QUOTA && !isRefused()
        for (const [i, one] of clients.entries()) {
          if (isLosing) toRedis[i]!.loseNext(() => (lost += 1))
          await Promise.all(Array.from({ length: AT_ONCE }, () => load.post(one, [one.call()], agent)))
        }
        // It connects anew, so that the next answer is lost too.
        await pause(100)
        idle = isLosing || served() > before ? 0 : idle + 1
        return served() >= QUOTA && idle >= 5
      }
      await until('the quota is spent', spend, 60_000)
      agent.destroy()
      const most = QUOTA + AT_ONCE * clients.length
      t.ok(served() <= most, `${served()} of ${QUOTA} units, ${lost} answers were lost`)
      t.ok(lost >= 10)
    },
    'the ledger of a machine has no room': async t => {
      const i = anyone()
      const { keeper } = (await fleet.crews())[i]!
      // Workers have journals of their own.
      limitFiles(keeper, '1')
      await goOn(t, FAILS)
      const isSaid = () => gateways[i]!.printed.includes('disk I/O error')
      await until('the log says why', () => Promise.resolve(isSaid()))
      limitFiles(keeper, 'unlimited')
    },
  }
  /** Why a fault cannot be had here. */
  const missing: Readonly<Record<string, string | undefined>> = {
    'the ledger of a machine has no room': cannotLimitFiles(),
  }
  await load.send(50)
  await fleet.hold(t, 'nothing fails')
  for (let round = 0; round < rounds; round += 1)
    for (const [what, fault] of Object.entries(faults).filter(([what]) => wanted.test(what)))
      await t.test(what, { skip: missing[what] ?? false }, async t => {
        await load.send(50, () => fault(t))
        for (const [i, { ledger }] of load.loaded.entries()) charged[i]! += total(ledger.told).requests
        await fleet.hold(t, what)
      })
  t.ok(fleet.audit.reads > 100, `PostgreSQL was read ${fleet.audit.reads} times`)
  for (const gateway of gateways) t.equal(await metric(gateway, 'tollgate_spool_fenced'), 0)
  t.strictSame(await fleet.query('SELECT count(*)::int AS nodes FROM node'), [{ nodes: 2 }])
})
