/** An installation of one machine moves to PostgreSQL. */
import t from 'tap'
import { migrateAccounts } from '../../../../src/stores/postgres/accounts/migrate.ts'
import { Postgres } from '../../../../src/stores/postgres/postgres.ts'
import { createTables } from '../../../../src/stores/postgres/schema.ts'
import { openAccounts } from '../../../../src/stores/sqlite/accounts/store.ts'
import { noServers, startPostgres } from '../../../support/servers.ts'
import { tempDir } from '../../../support/temp-dir.ts'
import { makeEndpoints } from '../support/many-endpoints.ts'
import { configOf, ENV, openMachine } from '../support/machines.ts'
import { migratesTwice } from './migration.ts'

t.test('2 000 endpoints are migrated, and a second time changes nothing', { skip: noServers }, t =>
  migratesTwice(t, 2_000),
)

t.test('what is in the way of a migration', { skip: noServers }, async t => {
  const server = await startPostgres(t)
  const config = configOf(server.url, 'tollgate')
  const postgres = new Postgres(config)
  t.teardown(() => postgres.close())
  await createTables(postgres)
  const dataDir = await tempDir(t)
  await makeEndpoints(dataDir, 10)
  const place = { dataDir, env: ENV, timeout: config.timeout, progress: () => undefined }
  const other = await tempDir(t)
  await makeEndpoints(other, 10)

  // Interrupted after the accounts, and after the last endpoint: what comes behind it would be lost where a gateway took what is there for all.
  for (const [rows, message] of [
    [2, /accounts.db holds endpoints that PostgreSQL does not know: "tollgate migrate --to postgres"/],
    [
      13,
      'the accounts in PostgreSQL are not all there yet: run "tollgate migrate --to postgres" again where they were, to its end',
    ],
  ] as const) {
    const progress = (done: number): void => {
      if (done >= rows) throw new Error('stopped')
    }
    await t.rejects(migrateAccounts(postgres, { ...place, progress }), { message: 'stopped' })
    await t.rejects(openMachine(t, config, { dataDir }), { message })
    await t.rejects(openMachine(t, config), { message: /not all there yet/ })
  }
  const store = await openAccounts({ dataDir, env: ENV })
  const [token] = await store.tokens.list()
  t.ok((await migrateAccounts(postgres, place)).written > 5)
  t.ok(await store.tokens.revoke(token!.id))
  t.equal(
    (await migrateAccounts(postgres, place)).written,
    2,
    'the token is gone there too, and the trail has an entry',
  )
  t.strictSame(await postgres.query('SELECT * FROM token'), [])
  store.close()

  await t.rejects(migrateAccounts(postgres, { ...place, dataDir: other }), {
    message: 'PostgreSQL holds other accounts than this data directory: nothing was written',
  })
  const gateway = await openMachine(t, config)
  const [account] = await gateway.store.accounts.list()
  await gateway.store.accounts.change(account!.id, { status: 'suspended' })
  await t.rejects(migrateAccounts(postgres, place), {
    message: `gateways have changed the accounts in PostgreSQL already: nothing was written; "tollgate spool --dir ${dataDir}" sends what they lack of usage`,
  })
})
