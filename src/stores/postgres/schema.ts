/** The tables of all gateways, and bringing them up to date. */
import { StoreUnavailable } from '../../ports/store-unavailable.ts'
import { accountTables, endpointLabels } from './accounts/schema.ts'
import type { Postgres, Query } from './postgres.ts'
import { usageLatencyAndPast, usageTables } from './usage/schema.ts'

/** One step a version: version n is what the first n make. Steps are added, never edited, and only add: a gateway runs on the version before its own. */
const steps: readonly string[] = [accountTables, usageTables, usageLatencyAndPast + endpointLabels]

/** Any number, the same for all gateways: one at a time makes tables. */
const LOCK = 0x54476d67

/** Makes the schema, or brings it up to date. Several gateways may do so at once. Returns the versions before and after. */
export function migrate(postgres: Postgres): Promise<{ readonly from: number; readonly to: number }> {
  return postgres.transaction(async query => {
    await query('SELECT pg_advisory_xact_lock($1)', [LOCK])
    await query(`CREATE SCHEMA IF NOT EXISTS ${postgres.schema}`)
    await query(
      'CREATE TABLE IF NOT EXISTS version (one boolean PRIMARY KEY DEFAULT true CHECK (one), version int NOT NULL)',
    )
    const from = await versionOf(query)
    if (from > steps.length) throw new Error(newer(from))
    for (const step of steps.slice(from)) await query(step)
    await query(
      'INSERT INTO version (version) VALUES ($1) ON CONFLICT (one) DO UPDATE SET version = excluded.version',
      [steps.length],
    )
    return { from, to: steps.length }
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
    await migrate(postgres)
    return
  }
  const version = await versionOf(postgres.query)
  if (version > steps.length) throw new Error(newer(version))
  if (version < steps.length - 1)
    throw new Error(
      `the tables in PostgreSQL are of an older Tollgate (version ${version}, here ${steps.length}): run tollgate migrate`,
    )
}

/** The version of the tables: the one before, until somebody runs `tollgate migrate`. */
export async function versionOf(query: Query): Promise<number> {
  const [row] = await query<{ version: number }>('SELECT version FROM version')
  return row?.version ?? 0
}

function newer(version: number): string {
  return `the tables in PostgreSQL are of a newer Tollgate (version ${version}, here ${steps.length})`
}
