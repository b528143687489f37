/** A ledger that was kept alone goes to PostgreSQL, whatever becomes of it and of the attempt. */
import t from 'tap'
import type { Test } from 'tap'
import { sendLedger } from '../../../../src/stores/postgres/usage/send-ledger.ts'
import type { Postgres } from '../../../../src/stores/postgres/postgres.ts'
import { isWholeReportDue, stopTracking } from '../../../../src/stores/sqlite/usage/reports/changes.ts'
import { openUsageDatabase } from '../../../../src/stores/sqlite/usage/database.ts'
import type { UsageDatabase } from '../../../../src/stores/sqlite/usage/database.ts'
import { openOwnJournal } from '../../../../src/stores/sqlite/usage/journals/left.ts'
import { rollUp } from '../../../../src/stores/sqlite/usage/roll-up.ts'
import { rollUpRound } from '../../../../src/stores/sqlite/usage/round.ts'
import { connectTo, Machine, sumsIn } from '../../../support/fleet-ledger.ts'
import { noServers, startPostgres } from '../../../support/servers.ts'
import { tempDir } from '../../../support/temp-dir.ts'

const DAY = 86_400_000
/** The morning of a day that is old, and not so old yet that its hours have become one. */
const OLD = Math.floor(Date.now() / DAY) * DAY - 85 * DAY
/** When it is. */
const THEN = Date.now() + 10 * DAY
const WORDS = { version: 'v', sharedVersion: 's' }
const agree = (sum: number) => ({ usage: sum, total: sum, quota_window: sum })

/** A machine that has served alone: an hour of each call, for a few hours of an old day. */
async function servedAlone(dir: string, postgres: Postgres, hours: readonly number[]): Promise<void> {
  const machine = new Machine(dir, postgres)
  for (const hour of hours) {
    machine.charge({ now: OLD + hour * 3_600_000, units: 2 })
    machine.refuse('eth_call', 'rate_limited', { now: OLD + hour * 3_600_000 })
  }
  await machine.stop(false)
  alone(dir)
}

/** What a gateway without `postgres` does to it. */
function alone(dir: string, now?: number): void {
  const { database } = openUsageDatabase(dir)
  stopTracking(database)
  if (now !== undefined) while (rollUp(database, now) > 0);
  database.close()
}

/** As the gateway does it, behind the days that it keeps hours for. */
function rollUpAll(database: UsageDatabase): void {
  const round = rollUpRound(database, THEN, 5)
  while (round.next().done !== true);
}

t.test('a ledger is sent to PostgreSQL', { skip: noServers }, async t => {
  const server = await startPostgres(t)
  let schemas = 0
  const fresh = (t: Test): Promise<Postgres> => connectTo(t, server.url, { schema: `sent_${(schemas += 1)}` })
  const rowsIn = async (postgres: Postgres, table: string): Promise<number> =>
    (await postgres.query<{ rows: number }>(`SELECT count(*)::int AS rows FROM ${table}`))[0]!.rows

  for (const hours of [
    [0, 1, 2],
    [3, 4, 5],
  ])
    t.test(`hours ${hours.join(', ')} that become a day between two attempts count once`, async t => {
      const postgres = await fresh(t)
      const dir = await tempDir(t)
      await servedAlone(dir, postgres, hours)
      t.match(await sendLedger(dir, postgres, WORDS), { rows: 8, all: 8, isForked: false })
      t.strictSame([await rowsIn(postgres, 'usage'), await rowsIn(postgres, 'refusal')], [3, 3])
      alone(dir, THEN)
      t.match(await sendLedger(dir, postgres, WORDS), { rows: 4, all: 4 })
      t.strictSame(await sumsIn(postgres), agree(6))
      t.strictSame([await rowsIn(postgres, 'usage'), await rowsIn(postgres, 'refusal')], [1, 1])
      t.strictSame(await postgres.query('SELECT sum(count)::int AS count FROM refusal'), [{ count: 3 }])
    })

  t.test('no hour becomes a day while all of them are still to be sent', async t => {
    const postgres = await fresh(t)
    const dir = await tempDir(t)
    await servedAlone(dir, postgres, [3, 4, 5])
    const machine = new Machine(dir, postgres)
    t.ok(isWholeReportDue(machine.database.database))
    const roll = (): void => {
      rollUpAll(machine.database)
    }
    roll()
    await machine.spool.flush()
    t.strictSame(await sumsIn(postgres), agree(6))
    t.notOk(isWholeReportDue(machine.database.database))
    roll()
    t.same(
      machine.database.database.prepare('SELECT hour, requests FROM usage').all(),
      [{ hour: OLD / 1000, requests: 6 }],
      'they do behind it',
    )
    machine.charge({ now: Date.now() })
    await machine.stop()
    t.strictSame(await sumsIn(postgres), agree(7))
  })

  t.test('a database that is empty again is sent what has become of it meanwhile', async t => {
    const dir = await tempDir(t)
    const first = await fresh(t)
    await servedAlone(dir, first, [3, 4, 5])
    await sendLedger(dir, first, WORDS)
    const ledger = openUsageDatabase(dir)
    rollUpAll(ledger)
    ledger.close()
    const second = await fresh(t)
    await sendLedger(dir, second, WORDS)
    t.strictSame(await sumsIn(second), agree(6))
  })

  t.test('a second time leaves every row as it was, that of the node too', async t => {
    const postgres = await fresh(t)
    const dir = await tempDir(t)
    await servedAlone(dir, postgres, [1, 2])
    const first = await sendLedger(dir, postgres, { ...WORDS, name: 'this-one' })
    const all = (): Promise<unknown[]> =>
      Promise.all(
        ['node', 'usage', 'refusal', 'total', 'quota_window'].map(table =>
          postgres.query(`SELECT xmin::text, * FROM ${table} ORDER BY 2, 3, 4, 5`),
        ),
      )
    const before = await all()
    t.strictSame(await sendLedger(dir, postgres, WORDS), { ...first, rows: 0 })
    t.strictSame(await all(), before)
    t.match(before[0], [{ name: 'this-one' }])
  })

  t.test('where there is no usage nothing is made', async t => {
    const postgres = await fresh(t)
    const dir = await tempDir(t)
    const nothing = { rows: 0, all: 0, isForked: false }
    t.strictSame(await sendLedger(dir, postgres, WORDS), { ...nothing, node: null })
    const ledger = openUsageDatabase(dir)
    ledger.close()
    t.match(await sendLedger(dir, postgres, WORDS), nothing)
    t.equal(await rowsIn(postgres, 'node'), 0)
  })

  t.test('a worker that still charges calls is waited for', async t => {
    const postgres = await fresh(t)
    const dir = await tempDir(t)
    await servedAlone(dir, postgres, [1])
    const journal = openOwnJournal(dir, 1)
    await t.rejects(sendLedger(dir, postgres, WORDS), {
      message: `workers of a gateway still run on ${dir}: wait for their end, and run this again`,
    })
    t.equal(await rowsIn(postgres, 'node'), 0)
    journal.database.close()
    journal.leave(true)
    t.match(await sendLedger(dir, postgres, WORDS), { rows: 4 })
  })
})
