/** Opens accounts that PostgreSQL has, with their replica on this machine. */
import { existsSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import type { PostgresConfig } from '../../../config/fleet.ts'
import { StoreUnavailable } from '../../../ports/store-unavailable.ts'
import { isReplica, openAccountsFile } from '../../sqlite/accounts/database.ts'
import { sealCanary } from '../../sqlite/accounts/secrets/canary.ts'
import { unlock } from '../../sqlite/accounts/secrets/key-ring.ts'
import {
  WRONG_SHARED_KEY,
  isKeyFileGiven,
  keyFile,
  masterKeyVariable,
  readMasterKey,
  readSharedMasterKey,
} from '../../sqlite/accounts/secrets/master-key.ts'
import { AccountStore } from '../../sqlite/accounts/store.ts'
import { inTransaction } from '../../sqlite/transaction.ts'
import type { DatabaseSync } from '../../sqlite/driver.ts'
import { PATIENCE, whenFree } from '../../sqlite/patience.ts'
import { isDenied, Postgres } from '../postgres.ts'
import { openSchema } from '../schema.ts'
import { Capture } from './capture.ts'
import { Puller } from './pull.ts'
import { refuseUnknown } from './unknown-accounts.ts'
import { Replica } from './replica.ts'
import { tablesOf } from './tables.ts'
import { SharedTransactions } from './transactions.ts'
import { write } from './write.ts'
import { WriteBack } from './write-back.ts'

/** How long a start without a replica waits for PostgreSQL, and between two attempts, in milliseconds. */
const FIRST_WAIT = 60_000
const LOOK = 500

/** Who opens it: the process that keeps the replica, one beside it, or a command. */
export type SharedRole = 'keeper' | 'worker' | 'command'

/** Where accounts live, and by which clock in Unix seconds (default: the system's). */
export interface SharedOptions {
  readonly dataDir: string
  readonly env: NodeJS.ProcessEnv
  readonly postgres: PostgresConfig
  readonly role: SharedRole
  /** Hears what the operator should know. */
  readonly warn: (sentence: string, cause?: unknown) => void
  readonly now?: () => number
  /** How long to wait for PostgreSQL where there is no replica, in milliseconds. */
  readonly firstWait?: number
}

/** The open store, and what keeps it up to date. */
export interface SharedAccounts {
  readonly store: AccountStore
  readonly postgres: Postgres
  readonly replica: Replica
  readonly puller: Puller
  /** Calls `listener` when what keys stand for was changed by another gateway; returns how to stop. */
  onTaken(listener: () => void): () => void
  close(): Promise<void>
}

/** Opens the store; a failure is one sentence. */
export async function openSharedAccounts(options: SharedOptions): Promise<SharedAccounts> {
  const { dataDir, env, role } = options
  readSharedMasterKey(dataDir, env)
  if (role === 'keeper' && existsSync(keyFile(dataDir)) && !isKeyFileGiven(dataDir, env))
    options.warn(
      `${keyFile(dataDir)} is not used: with postgres the master key comes from ${masterKeyVariable(env)!}`,
    )
  const config = role === 'keeper' ? options.postgres : { ...options.postgres, pool: 1 }
  const postgres = new Postgres(config)
  try {
    const file = await openAccountsFile(dataDir, () => null, { isCopy: true })
    try {
      return await open(options, postgres, file)
    } catch (error) {
      file.database.close()
      throw error
    }
  } catch (error) {
    await postgres.close()
    throw error
  }
}

async function open(
  options: SharedOptions,
  postgres: Postgres,
  file: Awaited<ReturnType<typeof openAccountsFile<null>>>,
): Promise<SharedAccounts> {
  const { dataDir, env, role } = options
  const { database } = file
  // What is lost with the power is pulled again, and rows are checked where they are written first.
  database.exec('PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = OFF')
  const tables = tablesOf(database)
  const log = role === 'keeper' ? new WriteBack(file.file) : null
  const replica = new Replica({ ...file, ...(log === null ? {} : { writeBack: () => log.run() }) }, tables)
  const heard = new Set<() => void>()
  const store: { is?: AccountStore } = {}
  const puller = new Puller(postgres, replica, () => {
    store.is?.takenIn()
    for (const listener of heard) listener()
  })
  let away: StoreUnavailable | null = null
  if (role !== 'worker') {
    // Keys are random: a million rows are written all over the file. KiB; the default is 2000.
    database.exec('PRAGMA cache_size = -32768')
    away = await firstPull(options, { postgres, replica, puller, database })
    database.exec('PRAGMA cache_size = -2000')
  } else if ((replica.state()?.change ?? -1) < 0)
    throw new Error(`accounts.db in ${dataDir} is not a whole copy of the accounts yet`)
  const ring = await whenFree(
    () => inTransaction(database, () => unlock(database, dataDir, env, WRONG_SHARED_KEY)),
    performance.now() + PATIENCE,
  )
  const capture = new Capture(database, tables)
  const { timeout } = options.postgres
  const shared = new SharedTransactions({ postgres, replica, capture, puller, timeout })
  // A command that has waited in vain does not wait once more.
  const refused = away !== null && role === 'command' ? away : null
  const transactions = refused === null ? shared : { run: async () => Promise.reject(refused) }
  store.is = new AccountStore({ ...file, ring }, options.now ?? (() => Math.floor(Date.now() / 1000)), {
    transactions,
    age: () => replica.age(),
  })
  return {
    store: store.is,
    postgres,
    replica,
    puller,
    onTaken: listener => {
      heard.add(listener)
      return () => void heard.delete(listener)
    },
    close: async () => {
      await log?.close()
      await postgres.close()
    },
  }
}

interface Opening {
  readonly postgres: Postgres
  readonly replica: Replica
  readonly puller: Puller
  readonly database: DatabaseSync
}

/**
 * Brings the replica up to date. Where there is one, it is good enough while PostgreSQL is away: returns why it is. Where there is none, that is waited
 * for.
 */
async function firstPull(options: SharedOptions, opening: Opening): Promise<StoreUnavailable | null> {
  const { role, warn } = options
  const { replica, puller, postgres } = opening
  const hasReplica = (replica.state()?.change ?? -1) >= 0
  const end = performance.now() + (role === 'command' ? 0 : (options.firstWait ?? FIRST_WAIT))
  for (let isWaiting = false; ; isWaiting = true) {
    try {
      await openSchema(postgres, !hasReplica)
      if (!isReplica(opening.database)) await refuseUnknown(opening.database, postgres)
      if (!hasReplica) await firstCanary(options, postgres, replica)
      await puller.pull()
      return null
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error
      if (hasReplica) {
        warn('PostgreSQL cannot be reached: accounts are as this machine knew them last', error)
        return error
      }
      if (performance.now() >= end || isDenied(error))
        throw new Error(`${error.message}; this machine has no copy of the accounts yet`, { cause: error })
      if (!isWaiting) warn('waiting for PostgreSQL: this machine has no copy of the accounts yet', error)
    }
    await pause(LOOK * (0.5 + Math.random()))
  }
}

/** The first gateway of all proves by which master key everything is sealed. */
async function firstCanary(
  { dataDir, env }: SharedOptions,
  postgres: Postgres,
  replica: Replica,
): Promise<void> {
  if ((await postgres.query('SELECT 1 FROM canary')).length > 0) return
  const table = replica.tables.find(({ name }) => name === 'canary')!
  const masterKey = readMasterKey(dataDir, env)!
  await postgres.transaction(async query => {
    await query('SELECT 1 FROM meta FOR UPDATE')
    if ((await query('SELECT 1 FROM canary')).length > 0) return
    if ((await query('SELECT 1 FROM account LIMIT 1')).length > 0)
      throw new Error(
        'the accounts in PostgreSQL are not all there yet: run "tollgate migrate --to postgres" again where they were, to its end',
      )
    const [meta] = await query<{ change: number; write: string }>(
      'UPDATE meta SET change = change + 1 RETURNING change, gen_random_uuid()::text AS write',
    )
    await write(query, [{ table, rows: [{ id: 1, sealed: sealCanary(masterKey) }], removed: [] }], meta!)
  })
}
