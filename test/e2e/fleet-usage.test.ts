import t from 'tap'
import { randomInt } from 'node:crypto'
import { runJson } from '../support/cli.ts'
import { total } from '../support/client-ledger.ts'
import { allCapabilities } from '../support/config-files.ts'
import { startFleet } from '../support/fleet.ts'
import { FleetLoad } from '../support/fleet-load.ts'
import { mixedMethods } from '../support/ledger-load.ts'
import { sumByMethod, type UsageRow } from '../support/metered.ts'
import { metric } from '../support/metrics.ts'
import { Random } from '../support/random.ts'
import { startNode } from '../support/scripted-node.ts'
import { noServers } from '../support/servers.ts'
import { until } from '../support/until.ts'

t.test('usage of two machines', { skip: noServers }, async t => {
  const node = await startNode(t, { chainId: 1001 })
  const fleet = await startFleet(
    t,
    {
      networks: { alpha: { chainId: 1001 } },
      routes: [{ id: 'alpha-a', network: 'alpha', http: node.url, capabilities: allCapabilities }],
      methods: mixedMethods,
      plans: {
        paid: {
          tiers: ['any', 'paid'],
          maxBatch: 100,
          rate: { perSecond: 100_000, burst: 100_000 },
          quota: { requests: 1_000_000_000, every: '30d' },
          ws: { connections: 50, subscriptions: 100 },
        },
      },
    },
    [{ workers: 2 }, {}],
  )
  const [first] = fleet.gateways as [(typeof fleet.gateways)[0]]
  const random = new Random(randomInt(2 ** 32))
  t.comment(`seed ${random.seed}`)
  const load = new FleetLoad(fleet.accesses, random)
  const reported = async (): Promise<number> =>
    until(
      'all usage is reported',
      async () => {
        for (const gateway of fleet.gateways)
          if ((await metric(gateway, 'tollgate_spool_rows').catch(() => 1)) !== 0) return undefined
        const { usage, total: totals, quota_window } = await fleet.sums()
        return usage === totals && usage === quota_window && usage >= total(load.known().least).requests
          ? usage
          : undefined
      },
      60_000,
    )

  t.test('every view on both machines agrees to the unit', async t => {
    await load.send(400)
    // At once for what the machine has served itself.
    const { rows } = await fleet.accesses[0]!.managed('service_usage', [{ by: 'hour' }])
    const own = rows.reduce((sum: number, { requests }: { requests: number }) => sum + requests, 0)
    t.ok(
      own >= total(load.loaded[0]!.ledger.told).requests,
      'exact at reply for what this machine has served',
    )
    await reported()
    const least = total(load.known().least).requests
    const views = await Promise.all(
      fleet.gateways.map(async ({ dir }, i) => {
        const access = fleet.accesses[i]!
        const usage = await access.managed('service_usage', [{ by: 'hour' }])
        const { endpoints } = await access.managed('service_listEndpoints', [])
        const printed = await runJson(dir, ['usage', '--by', 'hour'])
        const bill = await runJson(dir, ['usage', '--by', 'account'])
        const top = await runJson(dir, ['top'])
        const show = await runJson(dir, ['account', 'show', access.accountId], {
          TOLLGATE_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
        })
        t.notOk('stale' in usage)
        return {
          usage: total(sumByMethod(usage.rows)).requests,
          listed: endpoints[0].requestCount,
          printed: total(sumByMethod(printed)).requests,
          bill: bill[0].requests,
          top: top[0].requests,
          quota: show.quota.used,
        }
      }),
    )
    const all = { usage: least, listed: least, printed: least, bill: least, top: least, quota: least }
    t.strictSame(views, [all, all])
  })

  t.test(
    'without PostgreSQL answers are of this machine and say so, and it has all of it soon after',
    async t => {
      await fleet.postgres.kill()
      await load.send(100)
      for (const access of fleet.accesses) {
        t.equal((await access.managed('service_usage', [{ by: 'hour' }])).stale, true)
        t.equal((await access.managed('service_listEndpoints', [])).stale, true)
      }
      await fleet.postgres.start()
      const begin = performance.now()
      await reported()
      t.comment(`complete ${Math.round(performance.now() - begin)} ms behind its return`)
      const usage = await until('answers are of all machines', async () => {
        const answer = await fleet.accesses[1]!.managed('service_usage', [{ by: 'hour' }])
        return answer.stale === undefined ? (answer as { rows: UsageRow[] }) : undefined
      })
      t.equal(total(sumByMethod(usage.rows)).requests, (await fleet.sums()).usage)
    },
  )

  t.test('tollgate nodes lists both', async t => {
    const listed = await runJson(first.dir, ['nodes'])
    t.match(
      listed.map(({ name, fenced }: any) => ({ name, fenced })),
      [
        { name: 'machine-1', fenced: false },
        { name: 'machine-2', fenced: false },
      ],
    )
    t.equal(listed[0].sharedVersion, listed[1].sharedVersion)
    t.not(listed[0].version, listed[1].version)
  })
})
