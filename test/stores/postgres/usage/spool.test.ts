import { cpSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Postgres } from '../../../../src/stores/postgres/postgres.ts'
import { connectTo, Machine, NOW, sumsIn } from '../../../support/fleet-ledger.ts'
import { noServers, startPostgres } from '../../../support/servers.ts'
import { tempDir } from '../../../support/temp-dir.ts'

t.test('usage is reported to PostgreSQL', { skip: noServers }, async t => {
  const server = await startPostgres(t)
  /** An empty database of the server. */
  let databases = 0
  const fresh = async (t: Parameters<typeof connectTo>[0]): Promise<Postgres> => {
    databases += 1
    return connectTo(t, server.url, { schema: `tollgate_${databases}` })
  }
  const agree = (sum: number) => ({ usage: sum, total: sum, quota_window: sum })
  /** A machine that has reported 10 units and charged 5 more, and one on a copy of its directory. */
  const copied = async (t: Parameters<typeof tempDir>[0], postgres: Postgres) => {
    const [dir, there] = [await tempDir(t), join(await tempDir(t), 'copy')]
    const original = new Machine(dir, postgres)
    original.charge({ units: 10 })
    await original.spool.flush()
    original.charge({ units: 5 })
    await original.ledger.folded()
    cpSync(dir, there, { recursive: true })
    return { dir, original, copy: new Machine(there, postgres, { name: 'copy' }) }
  }

  t.test('two machines have rows of their own, which sum up to what both charged', async t => {
    const postgres = await fresh(t)
    const machines = [
      new Machine(await tempDir(t), postgres, { name: 'one' }),
      new Machine(await tempDir(t), postgres, { name: 'two' }),
    ]
    for (const machine of machines)
      for (let i = 0; i < 3000; i += 1)
        machine.charge({ endpoint: `ep_${i % 40}`, method: `eth_${i % 60}`, units: 1 + (i % 3) })
    await Promise.all(machines.map(({ spool }) => spool.flush()))
    t.strictSame(await sumsIn(postgres), agree(12_000))
    machines[0]!.charge({ method: 'it"s a \\ method', units: 5 })
    machines[0]!.refuse('eth_call', 'rate_limited')
    await machines[0]!.spool.flush()
    t.strictSame(await sumsIn(postgres), agree(12_005))
    t.strictSame(
      await postgres.query(
        `SELECT hour, account, endpoint, network, method, plan, calls, requests FROM usage WHERE method LIKE 'it%'`,
      ),
      [
        {
          hour: (NOW - 1_800_000) / 1000,
          account: 'acc_1',
          endpoint: 'ep_1',
          network: 'eth',
          method: 'it"s a \\ method',
          plan: 'free',
          calls: 1,
          requests: 5,
        },
      ],
    )
    t.strictSame(await postgres.query('SELECT method, reason, count FROM refusal'), [
      { method: 'eth_call', reason: 'rate_limited', count: 1 },
    ])
    t.equal(machines[0]!.spool.rows, 0)
    await Promise.all(machines.map(machine => machine.stop()))
    t.strictSame(
      machines.map(({ heard }) => heard),
      [[], []],
    )
  })

  t.test('what was there before the first report is sent, a restart goes on as the same node', async t => {
    const postgres = await fresh(t)
    const dir = await tempDir(t)
    const first = new Machine(dir, postgres)
    first.charge({ units: 7 })
    await first.stop(false)
    for (const units of [1, 2]) {
      const next = new Machine(dir, postgres)
      next.charge({ units })
      await next.stop()
      t.strictSame(next.heard, [])
    }
    t.strictSame(await sumsIn(postgres), agree(10))
    t.strictSame(await postgres.query('SELECT epoch, name FROM node'), [{ epoch: 2, name: 'one' }])
  })

  t.test('a copy goes on as another node, and nothing is counted twice, whichever reports first', async t => {
    for (const isOriginalFirst of [true, false]) {
      const postgres = await fresh(t)
      const { dir, original, copy } = await copied(t, postgres)
      const inOrder = isOriginalFirst ? [original, copy] : [copy, original]
      for (const machine of inOrder) {
        await machine.spool.flush().catch(() => undefined)
      }
      t.strictSame(await sumsIn(postgres), agree(15), 'what both have is counted once')
      original.charge({ units: 100 })
      copy.charge({ units: 1000 })
      for (const machine of inOrder) await machine.spool.flush().catch(() => undefined)
      t.strictSame(inOrder[1]!.heard, isOriginalFirst ? ['forked'] : ['fenced'])
      t.strictSame(await sumsIn(postgres), agree(isOriginalFirst ? 1115 : 1015))
      await original.stop()
      await copy.stop()
      if (isOriginalFirst) continue
      const again = new Machine(dir, postgres)
      again.charge({ units: 10_000 })
      await again.stop()
      t.strictSame(
        await sumsIn(postgres),
        agree(11_115),
        'what it served while fenced comes with its next id',
      )
    }
  })

  t.test('what a machine charges beside a copy that goes on as its node is never counted twice', async t => {
    const postgres = await fresh(t)
    const { dir, original, copy } = await copied(t, postgres)
    copy.charge({ units: 1 })
    await copy.spool.flush()
    // PostgreSQL is away from it meanwhile: what it charges now cannot be distinguished from what the copy reports.
    original.charge({ units: 100 })
    await t.rejects(original.spool.flush())
    t.strictSame(original.heard, ['fenced'])
    original.charge({ units: 1_000 })
    await original.stop(false)
    const again = new Machine(dir, postgres)
    again.charge({ units: 10_000 })
    await again.stop()
    await copy.stop()
    t.strictSame(await sumsIn(postgres), agree(10 + 5 + 1 + 1_000 + 10_000))
  })

  t.test('a directory put back from a backup goes on as another node', async t => {
    const postgres = await fresh(t)
    const [dir, backup] = [await tempDir(t), join(await tempDir(t), 'backup')]
    const first = new Machine(dir, postgres)
    first.charge({ units: 10 })
    await first.stop()
    cpSync(dir, backup, { recursive: true })
    const second = new Machine(dir, postgres)
    second.charge({ units: 5 })
    await second.stop()
    const restored = new Machine(backup, postgres)
    restored.charge({ units: 3 })
    await restored.stop()
    t.strictSame(restored.heard, ['forked'])
    t.strictSame(await sumsIn(postgres), agree(18))
  })

  t.test('a PostgreSQL that has lost reports is sent them again', async t => {
    const postgres = await fresh(t)
    const machine = new Machine(await tempDir(t), postgres)
    machine.charge({ units: 1 })
    await machine.spool.flush()
    const tables = ['node', 'usage', 'refusal', 'total', 'quota_window']
    for (const table of tables) await postgres.query(`CREATE TABLE kept_${table} AS SELECT * FROM ${table}`)
    machine.charge({ units: 2, endpoint: 'ep_2' })
    await machine.spool.flush()
    machine.charge({ units: 4, endpoint: 'ep_3' })
    await machine.spool.flush()
    await postgres.transaction(async query => {
      for (const table of tables) {
        await query(`DELETE FROM ${table}`)
        await query(`INSERT INTO ${table} SELECT * FROM kept_${table}`)
      }
    })
    machine.charge({ units: 8, endpoint: 'ep_4' })
    await machine.spool.flush()
    t.strictSame(await sumsIn(postgres), agree(15))
    for (const table of tables) await postgres.query(`DELETE FROM ${table}`)
    machine.charge({ units: 16, endpoint: 'ep_4' })
    await machine.spool.flush()
    t.strictSame(await sumsIn(postgres), agree(31), 'all of it, where the node is unknown')
    await machine.stop()
  })

  t.test('a connection that ends before the acknowledgement changes nothing', async t => {
    const postgres = await fresh(t)
    const machine = new Machine(await tempDir(t), postgres)
    machine.charge()
    await machine.spool.flush()
    for (let i = 0; i < 20; i += 1) {
      for (let j = 0; j < 50; j += 1) machine.charge({ endpoint: `ep_${j}`, now: NOW })
      const sent = machine.spool.flush().catch(() => undefined)
      await new Promise(resolve => setTimeout(resolve, Math.random() * 10))
      await postgres.query(
        'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND application_name = $1',
        ['tollgate'],
      )
      await sent
      const { usage, total, quota_window } = await sumsIn(postgres)
      t.ok(
        usage === total && usage === quota_window && usage <= 50 * (i + 1) + 1,
        'tables agree at every commit',
      )
    }
    await machine.spool.flush()
    t.strictSame(await sumsIn(postgres), agree(1001))
    await machine.stop()
  })
})
