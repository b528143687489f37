/** `tollgate migrate`: brings the tables in PostgreSQL up to date, and takes there what this machine has. */
import type { PostgresConfig } from '../config/fleet.ts'
import type { Postgres } from '../stores/postgres/postgres.ts'
import { masterKeyVariable } from '../stores/sqlite/accounts/secrets/master-key.ts'
import { whyNoAccounts } from '../stores/sqlite/accounts/present.ts'
import { isLocked } from '../stores/sqlite/usage/lock.ts'
import { fail, print, readArguments, UsageError } from './command.ts'
import type { Arguments, Command, Io } from './command.ts'
import { know } from './known.ts'
import { progress } from './output/progress.ts'

const OPTIONS = { to: 'string' } as const

/** What is taken to PostgreSQL, one after the other: what it is, and how many rows were written. */
interface Part {
  readonly what: string
  readonly take: (postgres: Postgres, place: Place) => Promise<Taken>
}

interface Place {
  readonly dataDir: string
  readonly io: Io
  readonly settings: PostgresConfig
  readonly show: (line: string) => void
}

interface Taken {
  readonly rows: number
  readonly written: number
  /** Nothing can be taken: what is here is a copy already. */
  readonly isCopy: boolean
}

const PARTS: readonly Part[] = [{ what: 'accounts', take: takeAccounts }]

export const migrate: Command = {
  summary: 'bring PostgreSQL up to date, and take the data of this machine there',
  options: OPTIONS,
  usage: `tollgate migrate [--to postgres] [--config DIR] [--json]

Brings the tables in PostgreSQL (gateway.yaml) up to the version of this program. Gateways of the version before go on.

  --to postgres  also takes what the data directory has there, as it is: accounts, endpoints with their keys, sessions,
                 tokens and the audit trail. The gateway on that data has to be stopped, and its master key in
                 TOLLGATE_MASTER_KEY or TOLLGATE_MASTER_KEY_FILE. It can be interrupted and run again; a second time it
                 changes nothing. A PostgreSQL that holds other accounts is left as it is.`,

  async run(args, io) {
    const { config, json, given } = readArguments(args, [], OPTIONS)
    const { to } = given
    if (to !== undefined && to !== 'postgres') throw new UsageError('--to takes postgres')
    const { gateway } = await know({ config }, io)
    const settings = gateway.postgres
    if (settings === null)
      return fail(io, json, 'gateway.yaml has no "postgres": add postgres: { url: ${TOLLGATE_POSTGRES} }')
    const { Postgres } = await import('../stores/postgres/postgres.ts')
    const schema = await import('../stores/postgres/schema.ts')
    const postgres = new Postgres({ ...settings, pool: 1 })
    try {
      if (to !== undefined) refuseTaking(gateway.dataDir, io)
      const versions = await schema.migrate(postgres)
      const place = { dataDir: gateway.dataDir, io, settings, show: progress(io, json) }
      const taken = to === undefined ? [] : await takeAll(postgres, place)
      tell(versions, taken, io, json)
      return 0
    } finally {
      await postgres.close()
    }
  },
}

/** Throws one sentence where what is there cannot be taken now. */
function refuseTaking(dataDir: string, { env }: Io): void {
  const why = whyNoAccounts(dataDir)
  if (why !== null) throw new Error(why)
  if (isLocked(dataDir)) throw new Error(`a gateway serves from ${dataDir}: stop it first`)
  if (masterKeyVariable(env) === null)
    throw new Error(
      `the master key has to be in TOLLGATE_MASTER_KEY or TOLLGATE_MASTER_KEY_FILE, as every gateway will have it: set TOLLGATE_MASTER_KEY_FILE=${dataDir}/master.key for now`,
    )
}

async function takeAll(postgres: Postgres, place: Place): Promise<(Taken & { readonly what: string })[]> {
  const all: (Taken & { readonly what: string })[] = []
  for (const { what, take } of PARTS) all.push({ what, ...(await take(postgres, place)) })
  return all
}

async function takeAccounts(postgres: Postgres, { dataDir, io, settings, show }: Place): Promise<Taken> {
  const { migrateAccounts } = await import('../stores/postgres/accounts/migrate.ts')
  return migrateAccounts(postgres, {
    ...{ dataDir, env: io.env, timeout: settings.timeout },
    progress: (done, of) => {
      show(`accounts: ${done} of ${of} rows`)
    },
  })
}

function tell(
  { from, to }: { readonly from: number; readonly to: number },
  taken: readonly (Taken & { readonly what: string })[],
  io: Io,
  json: Arguments['json'],
): void {
  const lines = () => [
    from === to ? `the tables are up to date (version ${to})` : `the tables are of version ${to} now`,
    ...taken.map(({ what, rows, written, isCopy }) =>
      isCopy
        ? `${what}: what is here is a copy of what PostgreSQL has`
        : `${what}: ${rows} rows compared, ${written} written`,
    ),
  ]
  print(io, json, { from, to, taken }, lines, 'PostgreSQL is up to date', true)
}
