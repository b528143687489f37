import t from 'tap'
import { randomInt } from 'node:crypto'
import { Agent } from 'node:http'
import { runJson } from '../support/cli.ts'
import { total } from '../support/client-ledger.ts'
import { allCapabilities } from '../support/config-files.ts'
import { startFleet } from '../support/fleet.ts'
import { LoadedAccess, mixedMethods } from '../support/ledger-load.ts'
import { sumByMethod, type UsageRow } from '../support/metered.ts'
import { metric } from '../support/metrics.ts'
import { Random } from '../support/random.ts'
import { startNode } from '../support/scripted-node.ts'
import { noServers } from '../support/servers.ts'
import { until } from '../support/until.ts'
import { crewOf, kill9 } from '../support/workers.ts'

const WORKERS = 2
/** `KILLS=100` for a long run. */
const rounds = Number(process.env['KILLS'] ?? 7)

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
          ...{ tiers: ['any', 'paid'], maxBatch: 100, rate: { perSecond: 100_000, burst: 100_000 } },
          ...{
            quota: { requests: 1_000_000_000, every: '30d' },
            ws: { connections: 50, subscriptions: 100 },
          },
        },
      },
    },
    [{ workers: WORKERS }, {}],
  )
  const [first, second] = fleet.gateways as [(typeof fleet.gateways)[0], (typeof fleet.gateways)[0]]
  const random = new Random(randomInt(2 ** 32))
  t.comment(`seed ${random.seed}`)
  const loaded = fleet.accesses.map(access => new LoadedAccess(access, random))

  /** Machines that are not sent to: they are being started. */
  const down = new Set<number>()
  /** Sends on all machines as fast as answers come, until each has so many more. */
  const load = async (
    answers: number,
    meanwhile: () => void | Promise<void> = () => undefined,
  ): Promise<void> => {
    const agent = new Agent({ keepAlive: true })
    const goals = loaded.map(({ ledger }) => ledger.heard + answers)
    const until20s = Date.now() + 20_000
    const sending = loaded.flatMap((one, i) =>
      Array.from({ length: 6 }, async () => {
        while (one.ledger.heard < goals[i]! && Date.now() < until20s)
          if (down.has(i)) await new Promise(resolve => setTimeout(resolve, 20))
          else await one.post(one.message(), agent)
      }),
    )
    await meanwhile()
    await Promise.all(sending)
    agent.destroy()
  }
  /** What clients know, over all machines: at least, and at most. */
  const known = (): { readonly least: number; readonly most: number } => {
    const sums = loaded.map(
      ({ ledger }) => [total(ledger.told).requests, total(ledger.unheard).requests] as const,
    )
    const least = sums.reduce((sum, [told]) => sum + told, 0)
    return { least, most: least + sums.reduce((sum, [, unheard]) => sum + unheard, 0) }
  }
  const reported = async (): Promise<number> =>
    until(
      'all usage is reported',
      async () => {
        for (const gateway of fleet.gateways)
          if ((await metric(gateway, 'tollgate_spool_rows').catch(() => 1)) !== 0) return undefined
        const { usage, total: totals, quota_window } = await fleet.sums()
        return usage === totals && usage === quota_window && usage >= known().least ? usage : undefined
      },
      60_000,
    )

  t.test('every view on both machines agrees to the unit', async t => {
    await load(400)
    // At once for what the machine has served itself.
    const { rows } = await fleet.accesses[0]!.managed('service_usage', [{ by: 'hour' }])
    const own = rows.reduce((sum: number, { requests }: { requests: number }) => sum + requests, 0)
    t.ok(own >= total(loaded[0]!.ledger.told).requests, 'exact at reply for what this machine has served')
    await reported()
    const { least } = known()
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

  t.test('whatever is killed or hangs, all that was acknowledged is counted, once', async t => {
    const { postgres } = fleet
    const crew = () => crewOf(first, WORKERS)
    const faults: Readonly<Record<string, () => Promise<void>>> = {
      'a worker': async () => {
        kill9(random.pick((await crew()).workers))
      },
      'the keeper': async () => {
        kill9((await crew()).keeper)
      },
      'PostgreSQL hangs': async () => {
        postgres.signal('SIGSTOP')
        await new Promise(resolve => setTimeout(resolve, 1_500))
        postgres.signal('SIGCONT')
      },
      'the second machine': async () => {
        down.add(1)
        await second.kill9()
        await second.start()
        down.delete(1)
      },
      'PostgreSQL is killed': async () => {
        await postgres.kill()
        await new Promise(resolve => setTimeout(resolve, 500))
        await postgres.start()
      },
      'connections to PostgreSQL end': async () => {
        await fleet.query(
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'tollgate'",
        )
      },
      'the first machine': async () => {
        const { keeper, workers } = await crew()
        down.add(0)
        for (const pid of [first.pid, keeper, ...workers]) kill9(pid)
        await first.exited
        await first.start()
        down.delete(0)
      },
    }
    const names = Object.keys(faults)
    for (let round = 0; round < rounds; round += 1) {
      const name = names[round % names.length]!
      await load(100 + random.below(200), faults[name])
      const { least, most } = known()
      const usage = await reported()
      t.ok(usage >= least && usage <= most, `${name}: ${least} ≤ ${usage} ≤ ${most}`)
    }
    t.strictSame(await fleet.query('SELECT count(*)::int AS nodes FROM node'), [{ nodes: 2 }])
    for (const gateway of fleet.gateways) t.equal(await metric(gateway, 'tollgate_spool_fenced'), 0)
  })

  t.test(
    'without PostgreSQL answers are of this machine and say so, and it has all of it soon after',
    async t => {
      await fleet.postgres.kill()
      await load(100)
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
