import { cpSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { sendLedger } from '../../../../src/stores/postgres/usage/send-ledger.ts'
import { OthersUsage } from '../../../../src/stores/postgres/usage/others.ts'
import { openUsageDatabase } from '../../../../src/stores/sqlite/usage/database.ts'
import { HandedOver } from '../../../../src/stores/sqlite/usage/journals/hand-over.ts'
import { makePartitions } from '../../../../src/stores/postgres/usage/partitions.ts'
import { connectTo, Machine, NOW, sumsIn } from '../../../support/fleet-ledger.ts'
import { startPostgresProxy } from '../../../support/postgres-proxy.ts'
import { noServers, startPostgres } from '../../../support/servers.ts'
import { tempDir } from '../../../support/temp-dir.ts'
import { until } from '../../../support/until.ts'
import { eventsTo } from '../../usage/parts.ts'

const agree = (sum: number) => ({ usage: sum, total: sum, quota_window: sum })

t.test('faults between a ledger and PostgreSQL', { skip: noServers }, async t => {
  const server = await startPostgres(t)
  let schemas = 0
  const schema = (): string => `faults_${(schemas += 1)}`

  t.test('commits whose answers are lost, of claims and of reports, count once', async t => {
    const own = { schema: schema() }
    const postgres = await connectTo(t, server.url, own)
    const proxy = await startPostgresProxy(t, server.url)
    const through = await connectTo(t, proxy.url, own)
    let lost = 0
    const dir = await tempDir(t)
    let machine = new Machine(dir, through)
    machine.charge({ units: 3 })
    let sum = 3
    for (let round = 0; round < 12; round += 1) {
      proxy.loseNext('reply', () => {
        lost += 1
      })
      await machine.spool.flush().catch(() => undefined)
      sum += 5
      machine.charge({ endpoint: `ep_${round}`, units: 5 })
      if (round % 3 === 2) {
        // It never hears whether its claim or its report was taken.
        await machine.stop(false)
        machine = new Machine(dir, through)
      }
    }
    await machine.spool.flush()
    t.ok(lost >= 10, `${lost} answers were lost`)
    t.strictSame(await sumsIn(postgres), agree(sum))
    t.strictSame(await postgres.query('SELECT count(*) AS nodes FROM node'), [{ nodes: 1 }])
    await machine.stop()
  })

  t.test(
    'a dead machine’s directory is sent with its workers’ journals, and twice changes nothing',
    async t => {
      const postgres = await connectTo(t, server.url, { schema: schema() })
      await makePartitions(postgres, Date.now())
      const dir = await tempDir(t)
      const machine = new Machine(dir, postgres, { name: 'dead' })
      machine.charge({ units: 10 })
      await machine.spool.flush()
      machine.charge({ units: 20 })
      await machine.ledger.folded()
      // A charge that is on disk and in no table.
      machine.charge({ units: 40 })
      machine.ledger.charging.writer.flush()
      const file = 'journal-1-00000000000000aa.db'
      const journal = new HandedOver(
        openUsageDatabase(dir, file),
        file,
        eventsTo(() => undefined),
        () => Promise.reject(new Error('the keeper is gone')),
      )
      const payer = { account: { id: 'acc_1', plan: 'free' }, endpoint: { id: 'ep_1', network: 'eth' } }
      await journal.charging
        .charge(payer, 'eth_call', 80, Math.floor(NOW / 86_400_000) * 86_400, NOW)
        .commit()
      const disk = join(await tempDir(t), 'disk')
      cpSync(dir, disk, { recursive: true })
      const words = { version: 'v', sharedVersion: 's' }
      for (const expected of [false, false]) {
        const { isForked, node } = await sendLedger(disk, postgres, words)
        t.equal(isForked, expected)
        t.equal(node, machine.changes.node.id)
        t.strictSame(await sumsIn(postgres), agree(150))
      }
      t.strictSame(await postgres.query('SELECT name FROM node'), [{ name: 'dead' }])
      await journal.close()
      await machine.stop(false)
    },
  )

  t.test('a ledger that was kept alone is sent whole, and what was kept alone since', async t => {
    const postgres = await connectTo(t, server.url, { schema: schema() })
    const dir = await tempDir(t)
    const words = { version: 'v', sharedVersion: 's' }
    const alone = new Machine(dir, postgres)
    for (let i = 0; i < 2_500; i += 1)
      alone.charge({ endpoint: `ep_${i % 50}`, method: `m${i % 23}`, now: NOW - (i % 40) * 86_400_000 })
    await alone.stop(false)
    const { rows } = await sendLedger(dir, postgres, words)
    t.ok(rows >= 2_000, `${rows} rows`)
    t.strictSame(await sumsIn(postgres), agree(2_500))
    t.equal((await sendLedger(dir, postgres, words)).rows, 0)
    t.strictSame(await sumsIn(postgres), agree(2_500))
  })

  t.test('a clock an hour ahead has hours of its own, and sums agree', async t => {
    const postgres = await connectTo(t, server.url, { schema: schema() })
    await makePartitions(postgres, Date.now())
    const machines = await Promise.all(
      ['one', 'ahead'].map(async name => new Machine(await tempDir(t), postgres, { name })),
    )
    const now = Date.now()
    machines[0]!.charge({ now })
    machines[1]!.charge({ now: now + 3_600_000 })
    // No partition is made for it yet.
    machines[1]!.charge({ now: now + 30 * 86_400_000 })
    for (const { spool } of machines) await spool.flush()
    await makePartitions(postgres, now + 25 * 86_400_000)
    t.strictSame(await sumsIn(postgres), agree(3))
    t.strictSame(
      await postgres.query(
        'SELECT count(DISTINCT hour) AS hours, count(DISTINCT tableoid) AS tables FROM usage',
      ),
      [{ hours: 3, tables: new Date(now).getUTCHours() === 23 ? 3 : 2 }],
    )
    for (const machine of machines) await machine.stop()
  })

  t.test('what others have used of a quota is known soon, and of one’s own nothing', async t => {
    const postgres = await connectTo(t, server.url, { schema: schema() })
    const machines = await Promise.all(
      ['one', 'two', 'three'].map(async name => new Machine(await tempDir(t), postgres, { name })),
    )
    const start = Math.floor(NOW / 86_400_000) * 86_400
    for (const [i, machine] of machines.entries()) {
      machine.charge({ units: 10 ** i })
      await machine.spool.flush()
    }
    const others = new OthersUsage(postgres, () => machines[0]!.changes.node.id)
    const changes: unknown[] = []
    others.whenChanged(changed => changes.push(...changed.map(({ account }) => account)))
    t.equal(others.known('acc_1', start), 0)
    await until('it is known', () => Promise.resolve(others.known('acc_1', start) === 110))
    t.strictSame(changes, ['acc_1'])
    machines[2]!.charge({ units: 1 })
    await machines[2]!.spool.flush()
    await others.refresh()
    t.equal(others.known('acc_1', start), 111)
    for (const machine of machines) await machine.stop()
  })

  t.test(
    'bug: what others had used of an endpoint’s day was known to nobody once Redis had lost it',
    async t => {
      const postgres = await connectTo(t, server.url, { schema: schema() })
      const machines = await Promise.all(
        ['one', 'two'].map(async name => new Machine(await tempDir(t), postgres, { name })),
      )
      const start = Math.floor(NOW / 86_400_000) * 86_400
      for (const [i, machine] of machines.entries()) {
        machine.charge({ units: 10 ** i, endpoint: 'ep_1' })
        machine.charge({ units: 1_000, endpoint: 'ep_2' })
        machine.charge({ units: 1_000, endpoint: 'ep_1', now: NOW - 86_400_000 })
        await machine.spool.flush()
      }
      const others = new OthersUsage(postgres, () => machines[0]!.changes.node.id)
      const changes: unknown[] = []
      others.whenChanged(changed => changes.push(...changed))
      t.equal(others.knownOf('ep_1', 'acc_1', start), 0)
      await until('it is known', () => Promise.resolve(others.knownOf('ep_1', 'acc_1', start) > 0))
      t.equal(others.knownOf('ep_1', 'acc_1', start), 11, 'that of all machines, and of this day alone')
      t.strictSame(changes, [], 'it is no quota of the account')
      for (const machine of machines) await machine.stop()
    },
  )

  t.test('while PostgreSQL hangs the ledger goes on, and reports merge', async t => {
    const postgres = await connectTo(t, server.url, { schema: schema(), timeout: 300 })
    const machine = new Machine(await tempDir(t), postgres, { every: 200 })
    machine.charge()
    await machine.spool.flush()
    server.signal('SIGSTOP')
    try {
      for (let i = 0; i < 5; i += 1) {
        for (let j = 0; j < 100; j += 1) machine.charge({ endpoint: `ep_${j}` })
        await t.rejects(machine.spool.flush())
      }
      t.ok(machine.spool.rows > 200 && machine.spool.rows < 400, `${machine.spool.rows} rows for 500 calls`)
      t.ok(machine.spool.lagSeconds > 0.5)
    } finally {
      server.signal('SIGCONT')
    }
    await until('all is reported', async () => (await sumsIn(postgres)).usage === 501)
    t.strictSame(await sumsIn(postgres), agree(501))
    await until('nothing is behind', () => Promise.resolve(machine.spool.lagSeconds === 0))
    t.match(machine.heard, ['failed'])
    t.equal(machine.heard.at(-1), 'recovered')
    await machine.stop()
  })
})
