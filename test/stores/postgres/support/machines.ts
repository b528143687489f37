/** Machines that share accounts in one PostgreSQL, each with a data directory of its own. */
import { randomBytes } from 'node:crypto'
import type { Test } from 'tap'
import type { PostgresConfig } from '../../../../src/config/fleet.ts'
import { openSharedAccounts } from '../../../../src/stores/postgres/accounts/open.ts'
import type { SharedAccounts, SharedOptions } from '../../../../src/stores/postgres/accounts/open.ts'

/** The master key of all machines of a test. */
export const ENV = { TOLLGATE_MASTER_KEY: randomBytes(32).toString('base64') }

/** How to reach a server, in a schema of its own. */
export function configOf(url: string, schema: string, more: Partial<PostgresConfig> = {}): PostgresConfig {
  return { ...{ url, schema, pool: 4, timeout: 5_000, spool: 2_000, accountsMaxAge: null }, ...more }
}

/** Opens a machine's store, closed after the test. */
export async function openMachine(
  t: Test,
  postgres: PostgresConfig,
  options: Partial<SharedOptions> = {},
): Promise<SharedAccounts> {
  const machine = await openSharedAccounts({
    ...{ dataDir: t.testdir(), env: ENV, role: 'keeper', warn: () => undefined, postgres },
    ...options,
  })
  t.teardown(async () => {
    machine.store.close()
    await machine.close()
  })
  return machine
}
