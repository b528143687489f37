/** A gateway on the tables of the version before, which do not say how long upstreams took. */
import t from 'tap'
import type { ShownLatency } from '../../../../src/ports/latency.ts'
import { isPage } from '../../../../src/ports/ledger.ts'
import type { SumsQuery } from '../../../../src/ports/ledger.ts'
import { migrate, openSchema } from '../../../../src/stores/postgres/schema.ts'
import { FleetLedger } from '../../../../src/stores/postgres/usage/fleet-ledger.ts'
import { makeDays, makePartitions } from '../../../../src/stores/postgres/usage/partitions.ts'
import { openFleetReader } from '../../../../src/stores/postgres/usage/reader.ts'
import { rollUpNodes } from '../../../../src/stores/postgres/usage/roll-up.ts'
import { LATENCY_SUMS } from '../../../../src/stores/sqlite/usage/columns.ts'
import { connectTo, latencyIn, Machine, postgresConfig, sumsIn } from '../../../support/fleet-ledger.ts'
import { noServers, startPostgres } from '../../../support/servers.ts'
import { tempDir } from '../../../support/temp-dir.ts'

const DAY = 86_400_000

t.test(
  'usage is reported, read and rolled up there as before, and with latency once they are migrated',
  { skip: noServers },
  async t => {
    const server = await startPostgres(t)
    const postgres = await connectTo(t, server.url)
    await postgres.query(`ALTER TABLE usage ${LATENCY_SUMS.map(sum => `DROP COLUMN ${sum}`).join(', ')}`)
    await postgres.query('DROP INDEX usage_past_hours, refusal_past_hours')
    await postgres.query('ALTER TABLE endpoint DROP COLUMN labels')
    await postgres.query('UPDATE version SET version = 2')
    await openSchema(postgres)
    const now = Date.now()
    const today = Math.floor(now / DAY) * DAY
    await makePartitions(postgres, now)
    const machine = new Machine(await tempDir(t), postgres)
    const config = postgresConfig(server.url)
    const own = { totals: () => new Map(), sum: () => Promise.resolve('busy' as const) }
    const fleet = new FleetLedger({ postgres, config, spool: machine.spool, own })
    const query: SumsQuery = {
      accountId: 'acc_1',
      endpointId: null,
      network: null,
      method: null,
      from: 0,
      to: 2 ** 40,
      by: 'hour',
      groupBy: [],
      detail: true,
      top: null,
      after: null,
    }
    const asked = async (): Promise<unknown> => {
      const page = await fleet.sum(query)
      const reading = { from: query.from, to: query.to, step: null, detail: true }
      const reader = await openFleetReader(config, { accountId: 'acc_1', rows: reading, windows: null })
      const rows = [...reader.detailedRows({ accountId: 'acc_1', from: 0, to: 2 ** 40, by: 'month' })]
      reader.close()
      const [sum] = isPage(page) ? (JSON.parse(page.rows) as [Record<string, unknown>]) : [{ page }]
      return [{ ...sum }, ...rows].map(({ calls, latency }) => [
        calls,
        (latency as ShownLatency | null)?.buckets ?? null,
      ])
    }

    for (const ago of [3, 1, 0]) machine.charge({ now: today - ago * DAY, ms: 4 })
    await machine.spool.flush()
    await rollUpNodes(postgres, now)
    while (await makeDays(postgres, now + 95 * DAY));
    t.strictSame(await sumsIn(postgres), { usage: 3, total: 3, quota_window: 3 })
    t.strictSame(await asked(), [
      [3, null],
      [3, null],
    ])

    t.strictSame(await migrate(postgres), { from: 2, to: 3 })
    t.strictSame(await asked(), [
      [3, null],
      [3, null],
    ])
    machine.charge({ now: today, ms: 40 })
    machine.charge({ now: today + DAY, ms: 40 })
    await machine.spool.flush()
    t.strictSame(
      await latencyIn(postgres),
      { ms_5: 1, ms_50: 2 },
      'rows are sent as a whole: of the hour that goes on nothing is missing',
    )
    t.strictSame(await asked(), [
      [5, { 5: 1, 50: 2 }],
      [5, { 5: 1, 50: 2 }],
    ])
    await postgres.query('UPDATE node SET upto = $1', [Math.floor(now / 1000) + 9 * 86_400])
    await rollUpNodes(postgres, now + 8 * DAY)
    t.strictSame(await latencyIn(postgres), { ms_5: 1, ms_50: 2 })
    t.strictSame(await sumsIn(postgres), { usage: 5, total: 5, quota_window: 5 })
    await fleet.close()
    await machine.stop()
    t.strictSame(machine.heard, [])
  },
)
