/** Takes an installation of one machine to PostgreSQL, twice, and serves it from there. */
import { join } from 'node:path'
import type { Test } from 'tap'
import { migrateAccounts } from '../../../../src/stores/postgres/accounts/migrate.ts'
import { Postgres } from '../../../../src/stores/postgres/postgres.ts'
import { createTables } from '../../../../src/stores/postgres/schema.ts'
import { DatabaseSync } from '../../../../src/stores/sqlite/driver.ts'
import { startPostgres } from '../../../support/servers.ts'
import { tempDir } from '../../../support/temp-dir.ts'
import { makeEndpoints } from '../support/many-endpoints.ts'
import { configOf, ENV, openMachine } from '../support/machines.ts'

export async function migratesTwice(t: Test, endpoints: number): Promise<void> {
  const server = await startPostgres(t)
  const config = configOf(server.url, 'tollgate')
  const dataDir = await tempDir(t)
  const keys = await makeEndpoints(dataDir, endpoints)
  const before = contents(dataDir)
  const postgres = new Postgres(config)
  t.teardown(() => postgres.close())
  await createTables(postgres)
  const place = { dataDir, env: ENV, timeout: config.timeout, progress: () => undefined }
  let begin = performance.now()
  const first = await migrateAccounts(postgres, place)
  const migrated = performance.now() - begin
  const change = async () => (await postgres.query('SELECT change, write, migrated FROM meta'))[0]
  const then = await change()
  begin = performance.now()
  const second = await migrateAccounts(postgres, place)
  t.comment(`${endpoints} endpoints: migrated in ${migrated} ms, again in ${performance.now() - begin} ms`)
  t.ok(first.written > endpoints)
  // That nothing of the audit trail was read for events, and that no message waits, is the same there.
  t.strictSame(first, { rows: first.written + 2, written: first.written, isCopy: false })
  t.strictSame(second, { rows: first.rows, written: 0, isCopy: false })
  t.strictSame(await change(), then)
  const same = await openMachine(t, config, { dataDir })
  t.strictSame(contents(dataDir), before, 'the machine itself is a replica now, of what it had')
  begin = performance.now()
  const fresh = await openMachine(t, config)
  t.comment(`a replica of them is filled in ${performance.now() - begin} ms`)
  t.strictSame(contents(fresh.dataDir), before)
  let known = 0
  for (const [id, key] of keys) if (fresh.store.findByKey(key)?.endpoint.id === id) known += 1
  t.equal(known, endpoints)
  const [id, key] = [...keys].at(-1)!
  t.equal((await fresh.store.endpoints.find(null, id))?.apiKey, key)
  await fresh.store.endpoints.remove(null, id)
  await same.puller.pull()
  t.equal(same.store.findByKey(key), null)
  t.strictSame(await migrateAccounts(postgres, place), { rows: 0, written: 0, isCopy: true })
}

/** All rows, the change counter and the state of the replica apart. */
export function contents(dataDir: string): unknown {
  const database = new DatabaseSync(join(dataDir, 'accounts.db'), { readOnly: true })
  try {
    const tables = database
      .prepare(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT IN ('change', 'replica', 'sqlite_stat1') ORDER BY name",
      )
      .all() as { name: string }[]
    return tables.map(({ name }) => [name, database.prepare(`SELECT * FROM ${name} ORDER BY 1`).all()])
  } finally {
    database.close()
  }
}
