/** Machines that share accounts in one PostgreSQL, each with a data directory of its own. */
import { randomBytes } from 'node:crypto'
import type { Test } from 'tap'
import type { PostgresConfig } from '../../../../src/config/fleet.ts'
import { openSharedAccounts } from '../../../../src/stores/postgres/accounts/open.ts'
import type { SharedAccounts, SharedOptions } from '../../../../src/stores/postgres/accounts/open.ts'
import { noServers, startPostgres } from '../../../support/servers.ts'
import { tempDir } from '../../../support/temp-dir.ts'

/** The master key of all machines of a test. */
export const ENV = { TOLLGATE_MASTER_KEY: randomBytes(32).toString('base64') }

/** How to reach a server, in a schema of its own. */
export function configOf(url: string, schema: string, more: Partial<PostgresConfig> = {}): PostgresConfig {
  return { url, schema, pool: 4, timeout: 60_000, spool: 2_000, accountsMaxAge: null, ...more }
}

/** Opens a machine's store, closed after the test. */
export async function openMachine(
  t: Test,
  postgres: PostgresConfig,
  options: Partial<SharedOptions> = {},
): Promise<SharedAccounts & { readonly dataDir: string }> {
  const dataDir = options.dataDir ?? (await tempDir(t))
  const machine = await openSharedAccounts({
    env: ENV,
    role: 'keeper',
    warn: () => undefined,
    postgres,
    ...options,
    dataDir,
  })
  t.teardown(async () => {
    await machine.close()
    machine.store.close()
  })
  return { ...machine, dataDir }
}

/** One server for a file of tests, and in it a schema for each that asks; null where there is none. */
export async function schemasOf(t: Test): Promise<(() => PostgresConfig) | null> {
  if (noServers !== false) return null
  const { url } = await startPostgres(t)
  let schemas = 0
  return () => configOf(url, `schema_${(schemas += 1)}`)
}
