/** Creates the tables in PostgreSQL, and checks their version. */
import { StoreUnavailable } from '../../ports/store-unavailable.ts'
import { accountTables } from './accounts/schema.ts'
import type { Postgres, Query } from './postgres.ts'
import { usageTables } from './usage/schema.ts'

/** Version of the tables. A change of the tables needs the next one; tables of another version are refused. */
const VERSION = 3

/** Key of the advisory lock under which tables are created: the same for all gateways. */
const LOCK = 0x54476d67

/** Creates the schema if it does not exist. Several gateways may do so at once. Returns the versions before and after. */
export function createTables(postgres: Postgres): Promise<{ readonly from: number; readonly to: number }> {
  return postgres.transaction(async query => {
    await query('SELECT pg_advisory_xact_lock($1)', [LOCK])
    await query(`CREATE SCHEMA IF NOT EXISTS ${postgres.schema}`)
    await query(
      'CREATE TABLE IF NOT EXISTS version (one boolean PRIMARY KEY DEFAULT true CHECK (one), version int NOT NULL)',
    )
    const from = await versionOf(query)
    if (from > 0) refuseOtherVersion(from)
    else {
      await query(accountTables)
      await query(usageTables)
      await query('INSERT INTO version (version) VALUES ($1)', [VERSION])
    }
    return { from, to: VERSION }
  })
}

/**
 * Checks that this version can use the tables; throws one sentence if it cannot. Creates them in an empty database only with `isFirst`: a gateway that
 * already has a copy of the accounts takes an empty database for the wrong one, and its own for unavailable.
 */
export async function openSchema(postgres: Postgres, isFirst = false): Promise<void> {
  const [found] = await postgres.query<{ is: string | null }>('SELECT to_regclass($1) AS is', [
    `${postgres.schema}.version`,
  ])
  if (found?.is == null) {
    if (!isFirst)
      throw new StoreUnavailable(`PostgreSQL has no tables of Tollgate in its schema ${postgres.schema}`)
    await createTables(postgres)
    return
  }
  refuseOtherVersion(await versionOf(postgres.query))
}

/** 0 if no tables were created. */
async function versionOf(query: Query): Promise<number> {
  const [row] = await query<{ version: number }>('SELECT version FROM version')
  return row?.version ?? 0
}

function refuseOtherVersion(version: number): void {
  if (version === VERSION) return
  const writer = version > VERSION ? 'a newer' : 'an older'
  throw new Error(
    `the tables in PostgreSQL are of ${writer} Tollgate (version ${version}, this one uses ${VERSION})`,
  )
}
