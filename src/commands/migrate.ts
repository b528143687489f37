/** `tollgate migrate`: creates the tables in PostgreSQL, and moves the data of this machine there. */
import { existsSync } from 'node:fs'
import { counted } from '../config/words/units.ts'
import type { PostgresConfig } from '../config/fleet.ts'
import type { Snapshot } from '../snapshot/types.ts'
import type { Postgres } from '../stores/postgres/postgres.ts'
import { keyFile, masterKeyVariable } from '../stores/sqlite/accounts/secrets/master-key.ts'
import { whyNoAccounts } from '../stores/sqlite/accounts/present.ts'
import { isLocked, lockDataDir } from '../stores/sqlite/usage/lock.ts'
import { fail, print, readArguments, UsageError } from './command.ts'
import type { Arguments, Command, Io } from './command.ts'
import { know } from './known.ts'
import { loadOrThrow } from './load.ts'
import { progress } from './output/progress.ts'

const OPTIONS = { to: 'string' } as const

/** How long a statement may take at least, in milliseconds: nobody waits for it but who has called this. */
const PATIENCE = 60_000

/** What is taken to PostgreSQL, one after the other: what it is, and how many rows were written. */
interface Part {
  readonly what: string
  readonly take: (postgres: Postgres, place: Place) => Promise<Taken>
}

interface Place {
  readonly dataDir: string
  readonly io: Io
  readonly settings: PostgresConfig
  readonly snapshot: Snapshot
  readonly show: (line: string) => void
}

interface Taken {
  readonly rows: number
  readonly written: number
  /** Nothing can be taken: what is here is a copy already. */
  readonly isCopy: boolean
}

const PARTS: readonly Part[] = [
  { what: 'accounts', take: takeAccounts },
  { what: 'usage', take: takeUsage },
]

export const migrate: Command = {
  summary: 'create the tables in PostgreSQL, and move the data of this machine there',
  options: OPTIONS,
  usage: `tollgate migrate [--to postgres] [--config DIR] [--json]

Creates the tables in PostgreSQL (gateway.yaml) if there are none, as the first start of a gateway does.

  --to postgres  also takes what the data directory has there, as it is: accounts, endpoints with their keys, sessions,
                 tokens and the audit trail, then usage with its totals and quota windows. The gateway on that data has to
                 be stopped, and its master key in TOLLGATE_MASTER_KEY or TOLLGATE_MASTER_KEY_FILE. It can be interrupted
                 and run again; a second time it changes nothing. A PostgreSQL that holds other accounts is left as it is.`,

  async run(args, io) {
    const { config, json, given } = readArguments(args, [], OPTIONS)
    const { to } = given
    if (to !== undefined && to !== 'postgres') throw new UsageError('--to takes postgres')
    const { gateway } = await know({ config }, io)
    const settings = gateway.postgres
    if (settings === null)
      return fail(io, json, 'gateway.yaml has no "postgres": add postgres: { url: ${TOLLGATE_POSTGRES} }')
    if (to === undefined) {
      tell(await createTables(settings), [], io, json)
      return 0
    }
    const { dataDir } = gateway
    refuseTaking(dataDir, io)
    const snapshot = await loadOrThrow(config, io)
    // For as long as it takes: a gateway would charge what is taken.
    const lock = lockDataDir(dataDir)
    try {
      const versions = await createTables(settings)
      const place = { dataDir, io, settings, snapshot, show: progress(io, json) }
      tell(versions, await takeAll(place), io, json)
      return 0
    } finally {
      lock.release()
    }
  },
}

interface Versions {
  readonly from: number
  readonly to: number
}

async function createTables(settings: PostgresConfig): Promise<Versions> {
  const schema = await import('../stores/postgres/schema.ts')
  return connected({ ...settings, pool: 1 }, postgres => schema.createTables(postgres))
}

async function connected<T>(settings: PostgresConfig, work: (postgres: Postgres) => Promise<T>): Promise<T> {
  const { Postgres } = await import('../stores/postgres/postgres.ts')
  const postgres = new Postgres(settings)
  try {
    return await work(postgres)
  } finally {
    await postgres.close()
  }
}

/** Throws one sentence where what is there cannot be taken now. */
function refuseTaking(dataDir: string, { env }: Io): void {
  const why = whyNoAccounts(dataDir)
  if (why !== null) throw new Error(why)
  if (isLocked(dataDir)) throw new Error(`a gateway serves from ${dataDir}: stop it first`)
  if (masterKeyVariable(env) !== null) return
  const file = keyFile(dataDir)
  const forNow = existsSync(file) ? `: set TOLLGATE_MASTER_KEY_FILE=${file} for now` : ''
  throw new Error(
    `the master key has to be in TOLLGATE_MASTER_KEY or TOLLGATE_MASTER_KEY_FILE, as every gateway will have it${forNow}`,
  )
}

async function takeAll(place: Place): Promise<(Taken & { readonly what: string })[]> {
  const { settings } = place
  const patient = { ...settings, pool: 1, timeout: Math.max(settings.timeout, PATIENCE) }
  return connected(patient, async postgres => {
    const all: (Taken & { readonly what: string })[] = []
    for (const { what, take } of PARTS) all.push({ what, ...(await take(postgres, place)) })
    return all
  })
}

async function takeAccounts(postgres: Postgres, { dataDir, io, settings, show }: Place): Promise<Taken> {
  const { migrateAccounts } = await import('../stores/postgres/accounts/migrate.ts')
  return migrateAccounts(postgres, {
    dataDir,
    env: io.env,
    timeout: settings.timeout,
    progress: (done, of) => {
      show(`accounts: ${done} of ${of} rows`)
    },
  })
}

async function takeUsage(postgres: Postgres, { dataDir, io, snapshot, show }: Place): Promise<Taken> {
  const { sendLedger } = await import('../stores/postgres/usage/send-ledger.ts')
  const { version, sharedVersion, gateway } = snapshot
  const { all, rows, isForked } = await sendLedger(dataDir, postgres, {
    version,
    sharedVersion,
    name: gateway.node.name,
    progress: (done, of) => {
      show(`usage: ${done} of ${of} rows`)
    },
  })
  if (isForked) io.err(FORKED)
  return { rows: all, written: rows, isCopy: false }
}

/** What is said where the ledger was copied: also by `tollgate spool`. */
export const FORKED =
  'tollgate: warning: another process has reported as this node since: what is in this directory was counted as its'

function tell(
  { from, to }: Versions,
  taken: readonly (Taken & { readonly what: string })[],
  io: Io,
  json: Arguments['json'],
): void {
  const lines = () => [
    from === to ? `the tables exist already (version ${to})` : `the tables were created (version ${to})`,
    ...taken.map(({ what, rows, written, isCopy }) =>
      isCopy
        ? `${what}: what is here is a copy of what PostgreSQL has`
        : `${what}: ${counted(rows, 'row')} compared, ${written} written`,
    ),
  ]
  print(io, json, { from, to, taken }, lines, 'PostgreSQL is up to date', true)
}
