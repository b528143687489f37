/** Whether a gateway could work with a PostgreSQL, before one does: `check --data` asks. Changes nothing there. */
import pg from 'pg'
import type { PostgresConfig } from '../../config/fleet.ts'
import { StoreUnavailable } from '../../ports/store-unavailable.ts'
import { Postgres } from './postgres.ts'
import { openSchema } from './schema.ts'
import { refuseUnknown } from './accounts/unknown-accounts.ts'
import { opensAccounts } from '../sqlite/accounts/secrets/key-ring.ts'
import { WRONG_SHARED_KEY, readSharedMasterKey } from '../sqlite/accounts/secrets/master-key.ts'
import { isReplica } from '../sqlite/accounts/database.ts'
import { readAccounts } from '../sqlite/accounts/present.ts'

/** Why it could not, in one sentence; `isAway` where it may by itself be there later. */
export interface Unusable {
  readonly message: string
  readonly isAway: boolean
}

/** SQLSTATE codes of what only an operator can fix: the user is rejected or lacks rights, or the database, a schema or a table is missing. */
const FINAL = /^(28|42501|3D000|3F000|42P01)/

/**
 * Null if it could. An empty database is as good as one with tables, except for a gateway that has a copy of its accounts
 * (`hasCopy`), or accounts of its own in `dataDir`.
 */
export async function whyUnusable(
  config: PostgresConfig,
  dataDir: string,
  hasCopy: boolean,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Unusable | null> {
  const postgres = new Postgres({ ...config, pool: 1 })
  try {
    const { user, lacks, isMade } = await rightsIn(postgres)
    if (lacks !== null)
      return { message: `PostgreSQL user ${user} lacks rights: it needs ${lacks}`, isAway: false }
    if (isMade || hasCopy) await openSchema(postgres)
    if (isMade) await refuseWrongKey(postgres, dataDir, env)
    if (!hasCopy)
      await readAccounts(dataDir, async database => {
        if (!isReplica(database)) await refuseUnknown(database, postgres, isMade)
      })
    return null
  } catch (error) {
    const { message, cause } = error as Error
    if (!(error instanceof StoreUnavailable)) return { message, isAway: false }
    const isFinal = cause === undefined || (cause instanceof pg.DatabaseError && FINAL.test(cause.code ?? ''))
    return { message, isAway: !isFinal }
  } finally {
    await postgres.close()
  }
}

/** A key that is missing or malformed is reported with the data directory. */
async function refuseWrongKey(
  { query }: Postgres,
  dataDir: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<void> {
  let masterKey
  try {
    masterKey = readSharedMasterKey(dataDir, env)
  } catch {
    return
  }
  const [found] = await query<{ canary: Buffer; new_by_old: Buffer | null }>(
    'SELECT canary.sealed AS canary, new_by_old FROM canary LEFT JOIN rotation ON TRUE',
  )
  if (found !== undefined && !opensAccounts(masterKey, found.canary, found.new_by_old))
    throw new Error(WRONG_SHARED_KEY)
}

interface Rights {
  readonly user: string
  /** What the user lacks first of all that a gateway does; null where it may do everything. */
  readonly lacks: string | null
  /** Whether the tables are there. */
  readonly isMade: boolean
}

async function rightsIn(postgres: Postgres): Promise<Rights> {
  const { schema } = postgres
  const [found] = await postgres.query<Record<'user' | 'database', string> & Record<Right, boolean>>(
    `SELECT quote_ident(current_user) AS user, quote_ident(current_database()) AS database,
       n.oid IS NOT NULL AS "isThere", has_database_privilege(current_database(), 'CREATE') AS "mayMake",
       coalesce(has_schema_privilege(n.oid, 'USAGE'), false) AND coalesce(has_schema_privilege(n.oid, 'CREATE'), false) AS "mayUse",
       EXISTS (SELECT 1 FROM pg_class WHERE relnamespace = n.oid AND relname = 'version') AS "isMade"
     FROM (SELECT 1) AS one LEFT JOIN pg_namespace AS n ON n.nspname = $1`,
    [schema],
  )
  const { user, database, isThere, isMade, mayMake, mayUse } = found!
  const lacks = !isThere
    ? mayMake
      ? null
      : `CREATE on database ${database}, which has no schema ${schema}`
    : mayUse
      ? await lackingOnTables(postgres)
      : `USAGE and CREATE on schema ${schema}`
  return { user, lacks, isMade }
}

type Right = 'isThere' | 'isMade' | 'mayMake' | 'mayUse'

/** Partitions are made by the owner of their table. */
async function lackingOnTables({ query, schema }: Postgres): Promise<string | null> {
  const [first] = await query<{ name: string; partitioned: boolean }>(
    `SELECT c.relname AS name, c.relkind = 'p' AS partitioned FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
     WHERE n.nspname = $1 AND c.relkind IN ('r', 'p') AND NOT CASE c.relkind WHEN 'p' THEN pg_has_role(c.relowner, 'USAGE')
       ELSE has_table_privilege(c.oid, 'SELECT') AND has_table_privilege(c.oid, 'INSERT')
         AND has_table_privilege(c.oid, 'UPDATE') AND has_table_privilege(c.oid, 'DELETE') END
     ORDER BY c.relispartition, c.relname LIMIT 1`,
    [schema],
  )
  if (first === undefined) return null
  const what = first.partitioned ? 'to own' : 'SELECT, INSERT, UPDATE and DELETE on'
  return `${what} table ${schema}.${first.name}`
}
