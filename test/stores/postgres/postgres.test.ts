import t from 'tap'
import type { PostgresConfig } from '../../../src/config/fleet.ts'
import { StoreUnavailable } from '../../../src/ports/store-unavailable.ts'
import { Postgres } from '../../../src/stores/postgres/postgres.ts'
import { createTables, openSchema } from '../../../src/stores/postgres/schema.ts'
import { noServers, startPostgres } from '../../support/servers.ts'
import { until } from '../../support/until.ts'

t.test('PostgreSQL', { skip: noServers }, async t => {
  const server = await startPostgres(t)
  const config: PostgresConfig = {
    url: server.url,
    schema: 'tollgate',
    pool: 4,
    timeout: 500,
    spool: 2_000,
    accountsMaxAge: null,
  }
  const postgres = new Postgres(config)
  t.teardown(() => postgres.close())

  /** Making tables takes as long as a busy machine wants. */
  const patient = new Postgres({ ...config, timeout: 60_000 })
  t.teardown(() => patient.close())

  t.test('the schema is made once, by whoever comes first', async t => {
    await t.rejects(
      openSchema(patient),
      StoreUnavailable,
      'where nobody says that he is the first it is away',
    )
    await Promise.all(Array.from({ length: 4 }, () => openSchema(patient, true)))
    const { from, to } = await createTables(patient)
    t.equal(from, to)
  })

  t.test('tables of another version are refused with one sentence', async t => {
    const other = new Postgres({ ...config, schema: 'newer', timeout: 60_000 })
    await createTables(other)
    await other.query('UPDATE version SET version = 1000')
    await t.rejects(openSchema(other), { message: /of a newer Tollgate \(version 1000/ })
    await t.rejects(createTables(other), { message: /of a newer Tollgate \(version 1000/ })
    await other.query('UPDATE version SET version = 1')
    await t.rejects(openSchema(other), { message: /of an older Tollgate \(version 1, this one uses \d+\)/ })
    await other.close()
  })

  t.test(
    'a transaction is all or nothing, and what the database says of a statement is passed on',
    async t => {
      await postgres.query('CREATE TABLE one (n bigint PRIMARY KEY)')
      const failing = postgres.transaction(async query => {
        await query('INSERT INTO one VALUES (1)')
        await query('INSERT INTO one VALUES (1)')
      })
      await t.rejects(failing, { code: '23505' })
      t.strictSame(await postgres.query('SELECT * FROM one'), [])
      await postgres.transaction(query => query('INSERT INTO one VALUES ($1)', [2 ** 40]))
      t.strictSame(await postgres.query('SELECT * FROM one'), [{ n: 2 ** 40 }])
    },
  )

  t.test('a server that hangs fails each query in its time, and is used again when it goes on', async t => {
    server.signal('SIGSTOP')
    const begin = performance.now()
    const failed = await Promise.allSettled(Array.from({ length: 20 }, () => postgres.query('SELECT 1')))
    const took = performance.now() - begin
    server.signal('SIGCONT')
    t.ok(failed.every(one => one.status === 'rejected' && one.reason instanceof StoreUnavailable))
    t.ok(took < 5_000, `${took} ms`)
    t.strictSame(await postgres.query('SELECT 1 AS n'), [{ n: 1 }])
  })

  t.test('a server that is killed is unavailable, and used again when it is back', async t => {
    const heard: string[] = []
    let isLost: () => void = () => undefined
    const lost = new Promise<void>(resolve => {
      isLost = resolve
    })
    const close = await postgres.listen('news', payload => heard.push(payload), isLost)
    await postgres.query(`SELECT pg_notify('news', '7')`)
    await until('it is heard', () => Promise.resolve(heard.length > 0))
    await server.kill()
    await lost
    t.strictSame(heard, ['7'])
    await t.rejects(postgres.query('SELECT 1'), StoreUnavailable)
    await t.rejects(
      postgres.transaction(query => query('SELECT 1')),
      StoreUnavailable,
    )
    await server.start()
    t.strictSame(await postgres.query('SELECT 1 AS n'), [{ n: 1 }])
    await close()
  })
})
