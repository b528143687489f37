/**
 * A machine between which and the servers every packet is lost: nothing is refused, and no connection ends. Calls go on on both machines, changes on the
 * other one alone, and once it is joined again nothing is missing and nothing is there twice.
 */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import t from 'tap'
import type { Test } from 'tap'
import type { Access } from '../support/access.ts'
import { Child, cleanEnvironment } from '../support/child.ts'
import { runJson } from '../support/cli.ts'
import { total } from '../support/client-ledger.ts'
import { startFaultyFleet } from '../support/faulty-fleet.ts'
import { AT_ONCE } from '../support/fleet-load.ts'
import { FLEET_ENV } from '../support/fleet.ts'
import type { Gateway } from '../support/gateway.ts'
import { get } from '../support/http.ts'
import { makeIsland, noIslands, type Servers } from '../support/island.ts'
import type { LoadedAccess } from '../support/ledger-load.ts'
import { metric, metricIs } from '../support/metrics.ts'
import { mainFile, nodeFile } from '../support/paths.ts'
import { noServers } from '../support/servers.ts'
import { at, becomes, makeAccess, reasonOf } from '../support/shared-accounts.ts'
import { until } from '../support/until.ts'

/** What tells that a key is known, and costs nothing. */
const FREE = 'service_account'
/** Calls that each machine answers while one of them is cut off. */
const MANY = 100
/** Units of a quota, and calls of a burst that hardly comes back. */
const QUOTA = 200
const RATE = { perSecond: 0.5, burst: 100 }
/** Messages that may wait for Redis in vain: each bucket has one at a time, and after two failures nobody asks. */
const ASKS = 10
const BOTH = ['postgres', 'redis'] as const

t.test(
  'a partition',
  { skip: noServers !== false ? noServers : await noIslands(), timeout: 280_000 },
  async t => {
    const island = makeIsland(t)
    const plans = {
      counted: { tiers: ['any'], quota: { requests: QUOTA, every: '30d' } },
      // All that is charged counts for a quota too: the tables of usage agree.
      slow: { tiers: ['any'], rate: RATE, quota: { requests: 1_000_000, every: '30d' } },
    }
    const fleet = await startFaultyFleet(t, { plans, island })
    const { gateways, accesses, load } = fleet
    const [a, b] = gateways as [Gateway, Gateway]
    const [onA, onB] = accesses as [Access, Access]
    /** Calls on both machines while something happens: every one of them is answered, and afterwards PostgreSQL has them once. */
    const whileCalled = async (t: Test, what: string, work: () => Promise<void>): Promise<void> => {
      await load.send(50, work)
      const lost = load.loaded.map(({ ledger }) => total(ledger.unheard).calls)
      t.strictSame(lost, [0, 0], 'every call was answered')
      await fleet.hold(t, what)
    }
    /** Loses what the second machine and these servers send each other, and waits until it knows; of Redis at most so many messages wait for that. */
    const lose = async (t: Test, ...servers: readonly (keyof Servers)[]): Promise<void> => {
      const before = await failedAsks(b)
      island.lose(servers)
      await metricIs(b, 'tollgate_limit_store_away', {}, servers.includes('redis') ? 1 : 0)
      await failedFew(t, before)
    }
    const failedAsks = (gateway: Gateway) =>
      metric(gateway, 'tollgate_limit_asks_total', { result: 'failed' })
    const failedFew = async (t: Test, before: number): Promise<void> => {
      const failed = (await failedAsks(b)) - before
      t.ok(failed <= ASKS, `${failed} messages to Redis were not answered`)
    }
    /** Both machines answer many calls. */
    const goOn = async (): Promise<void> => {
      const goals = load.loaded.map(({ ledger }) => ledger.heard + MANY)
      const isReached = () => load.loaded.every(({ ledger }, i) => ledger.heard >= goals[i]!)
      await until('calls are answered on both', () => Promise.resolve(isReached()))
    }
    const create = async (access: Access): Promise<string> => {
      const { error } = await access.manage('service_createEndpoint', [{ chain: 'alpha' }])
      return String(error?.data.reason ?? 'made')
    }
    const canWrite = async (access: Access): Promise<void> => {
      await until('it can make changes', async () => (await create(access)) === 'made', 30_000)
    }
    /** The second machine refuses changes, and says that what it shows of usage may be old; calls are served, so it is ready. */
    const isWithoutPostgres = async (t: Test): Promise<void> => {
      t.equal(await create(onB), 'store_unavailable')
      t.equal((await onB.managed('service_usage', [{ by: 'hour' }])).stale, true)
      t.equal((await get(`${b.adminUrl}/readyz`)).status, 200)
    }
    /** An account on both machines. */
    const keyOn = async (plan: string): Promise<readonly [Access, Access]> => {
      const access = await makeAccess(a, plan)
      await becomes(at(access, b), 'served', FREE)
      return [access, at(access, b)]
    }
    /** What both serve of a limit: exact where Redis answers both in time, which is not asked of a machine that is too busy for that. */
    const spendAll = async (
      t: Test,
      clients: readonly LoadedAccess[],
      isExact: (served: number) => boolean,
    ) => {
      const failures = async () => (await failedAsks(a)) + (await failedAsks(b))
      const before = await failures()
      const served = await load.spend(clients)
      const late = (await failures()) - before
      t.ok(late > 0 || isExact(served), `${served} were served, ${late} messages to Redis were not answered`)
    }
    const limitedOn = async (plan: string) => load.limited(await keyOn(plan))
    const seen = async (): Promise<readonly number[]> => {
      const nodes: readonly { readonly seenAt: number }[] = await runJson(a.dir, ['nodes'])
      return nodes.map(({ seenAt }) => seenAt)
    }

    await t.test('a machine that comes to neither PostgreSQL nor Redis', async t => {
      const [gone, goneOnB] = await keyOn('paid')
      await whileCalled(t, 'neither', async () => {
        const before = await failedAsks(b)
        await lose(t, ...BOTH)
        await goOn()
        // Those that were under way fail later than the first two.
        await failedFew(t, before)
        t.equal(await metric(a, 'tollgate_limit_store_away'), 0)
        await isWithoutPostgres(t)
        const made = await onA.another('alpha')
        await gone.managed('service_deleteEndpoint', [{ endpointId: gone.endpointId }])
        t.equal(await reasonOf(gone, FREE), 'invalid_key')
        t.equal(await reasonOf(goneOnB, FREE), 'served', 'nobody can have told it')

        const [command, ...words] = [...island.within, nodeFile, mainFile, 'nodes', '--config', b.dir]
        const nodes = new Child(command, words, cleanEnvironment(FLEET_ENV))
        t.equal((await nodes.exited).code, 1)
        t.match(nodes.stderr, /^tollgate: PostgreSQL cannot be reached/)
        const [, last] = await seen()
        for (let time = 0; time < 2; time += 1) {
          const [first] = await seen()
          await until('the other is seen again', async () => (await seen())[0]! > first!)
        }
        t.equal((await seen())[1], last, 'nobody has seen this one since')

        await lose(t)
        await becomes(goneOnB, 'invalid_key', FREE)
        await becomes(at(made, b), 'served', FREE)
        await canWrite(onB)
        await until('it is seen again', async () => (await seen())[1]! > last!)
        const isNew = async () => (await onB.managed('service_usage', [{ by: 'hour' }])).stale === undefined
        await until('what it shows is of all machines', isNew)
      })
    })

    await t.test('behind a partition limits are those of all again', async t => {
      await whileCalled(t, 'limits', async () => {
        const counted = await limitedOn('counted')
        t.equal(await load.spend(counted, AT_ONCE), AT_ONCE)
        await lose(t, ...BOTH)
        t.equal(await load.spend(counted, 3 * AT_ONCE), 3 * AT_ONCE, 'each has a part of the quota')
        await lose(t)
        const left = QUOTA - 4 * AT_ONCE
        await spendAll(t, counted, rest => rest <= left && rest > left - AT_ONCE)
        const slow = await limitedOn('slow')
        const begin = performance.now()
        await spendAll(t, slow, served => {
          const most = RATE.burst + ((performance.now() - begin) / 1_000) * RATE.perSecond
          // Each of the two machines serves a call at its edge before Redis has said so.
          return served >= RATE.burst && served <= most + 2
        })
      })
    })

    await t.test('a machine that does not come to PostgreSQL: limits are those of all', async t => {
      await whileCalled(t, 'PostgreSQL', async () => {
        const counted = await limitedOn('counted')
        await lose(t, 'postgres')
        await isWithoutPostgres(t)
        t.equal(await create(onA), 'made')
        await spendAll(t, counted, served => served === QUOTA)
        await lose(t)
        await canWrite(onB)
      })
    })

    await t.test('a machine that does not come to Redis: changes are made on both', async t => {
      await whileCalled(t, 'Redis', async () => {
        await lose(t, 'redis')
        t.strictSame([await create(onA), await create(onB)], ['made', 'made'])
        await goOn()
        await lose(t)
      })
    })

    await t.test(
      'a machine that is cut off in the middle of changes does not keep the other from its own',
      async t => {
        await whileCalled(t, 'changes', async () => {
          const changes = Array.from({ length: 10 }, () => create(onB))
          await Promise.race(changes)
          await lose(t, ...BOTH)
          const reasons = new Set(await Promise.all(changes))
          t.ok(
            [...reasons].every(reason => ['made', 'store_unavailable'].includes(reason)),
            [...reasons].join(),
          )
          await canWrite(onA)
          await lose(t)
          await canWrite(onB)
        })
        const [listed, listedOnB] = await Promise.all(
          [onA, onB].map(access => access.managed('service_listEndpoints')),
        )
        const ids = ({ endpoints }: { readonly endpoints: readonly { readonly endpointId: string }[] }) =>
          endpoints.map(({ endpointId }) => endpointId).sort()
        t.strictSame(ids(listedOnB), ids(listed), 'both have made the same')
      },
    )

    await t.test(
      'bug: what was cut off in the middle of a report held up its own after the return',
      async t => {
        await whileCalled(t, 'a report', async () => {
          const client = new pg.Client({
            connectionString: fleet.postgres.url,
            options: '-c search_path=tollgate',
          })
          await client.connect()
          await client.query("BEGIN; SELECT 1 FROM node WHERE name = 'machine-2' FOR UPDATE")
          const reports = (state: string) =>
            fleet.query(`SELECT 1 FROM pg_stat_activity AS a JOIN pg_locks AS l USING (pid)
            WHERE application_name = 'machine-2' AND relation = 'node'::regclass AND mode <> 'AccessShareLock' AND ${state}`)
          await until('one waits', async () => (await reports("wait_event_type = 'Lock'")).length > 0)
          await lose(t, ...BOTH)
          await client.query('COMMIT')
          await client.end()
          await until('PostgreSQL has given it up', async () => (await reports('true')).length === 0, 30_000)
          await lose(t)
        })
      },
    )

    await t.test('bug: a machine that was stopped while it was cut off was ended by force', async t => {
      await whileCalled(t, 'a restart', async () => {
        await lose(t, ...BOTH)
        await fleet.restart(1, async gateway => {
          load.down.add(1)
          await gateway.stop()
          const files = await readdir(join(gateway.dir, 'data'))
          t.notOk(files.includes('accounts.db-wal'), 'everything was closed')
        })
        t.equal(await create(onB), 'store_unavailable')
        await goOn()
        await lose(t)
      })
    })

    for (const gateway of gateways) t.equal(await metric(gateway, 'tollgate_spool_fenced'), 0)
    t.strictSame(await fleet.query('SELECT count(*)::int AS nodes FROM node'), [{ nodes: 2 }])
  },
)
