import { join } from 'node:path'
import { DatabaseSync } from '../driver.ts'
import { refuseLostAccounts } from './present.ts'
import { unlock } from './secrets/key-ring.ts'
import type { KeyRing } from './secrets/key-ring.ts'
import { keyFile, removeDrafts } from './secrets/master-key.ts'
import { accountsFile } from './schema.ts'
import { closedFile } from '../closed-file.ts'
import { explainFailure } from '../error.ts'
import { openDataDir } from '../data-dir.ts'
import { prepareFile } from '../file.ts'
import { FileLost, OpenedDatabase, OpenedFile, realPath } from '../place.ts'
import { PATIENCE, whenFree } from '../patience.ts'
import { createTables } from '../schema.ts'
import { inTransaction } from '../transaction.ts'

/** accounts.db, open, up to date and unlocked. */
export interface OpenDatabase {
  readonly file: string
  readonly database: DatabaseSync
  readonly ring: KeyRing
  /** Whether it is still where it was. */
  readonly opened: OpenedDatabase
  /** Whether most of the file is still to be checked. */
  readonly isUnchecked: boolean
}

/** The same before anything is unlocked, with what was prepared in the transaction that brought it up to date. */
export type OpenFile<T> = Omit<OpenDatabase, 'ring'> & { readonly prepared: T }

/** Opens `dataDir/accounts.db`, making directory, file and master key at first use; a failure is one sentence. */
export async function openDatabase(dataDir: string, env: NodeJS.ProcessEnv): Promise<OpenDatabase> {
  const { prepared: ring, ...open } = await openAccountsFile(dataDir, database => {
    if (isReplica(database))
      throw new Error(
        `accounts.db in ${dataDir} is a copy of the accounts in PostgreSQL, which gateway.yaml does not name: set "postgres" there, or use another data directory`,
      )
    const unlocked = unlock(database, dataDir, env)
    removeDrafts(keyFile(dataDir))
    return unlocked
  })
  return { ...open, ring }
}

/** Whether the file is a copy of what PostgreSQL has. */
export function isReplica(database: DatabaseSync): boolean {
  return database.prepare('SELECT 1 FROM replica').get() !== undefined
}

/** Opens the file, making directory and file at first use. `prepare` runs in a write transaction. */
export async function openAccountsFile<T>(
  dataDir: string,
  prepare: (database: DatabaseSync) => T,
  { isCopy = false } = {},
): Promise<OpenFile<T>> {
  const deadline = performance.now() + PATIENCE
  for (;;) {
    try {
      return await openOnce(dataDir, prepare, deadline, isCopy)
    } catch (error) {
      // Another process has taken back what it had made (take-back.ts), and this one goes on without it.
      if (!(error instanceof FileLost) || performance.now() >= deadline) throw error
    }
  }
}

async function openOnce<T>(
  dataDir: string,
  prepare: (database: DatabaseSync) => T,
  deadline: number,
  isCopy: boolean,
): Promise<OpenFile<T>> {
  openDataDir(dataDir)
  const file = join(dataDir, accountsFile.name)
  let database: DatabaseSync | undefined
  let place: OpenedFile | undefined
  const closed = closedFile(file)
  try {
    // A copy that is missing is made anew.
    if (!isCopy) refuseLostAccounts(dataDir)
    const opened = (database = new DatabaseSync(file, { timeout: 0 }))
    const opening = (place = new OpenedFile(realPath(file)))
    const isUnchecked = await whenFree(() => prepareFile(opened, file, accountsFile), deadline)
    opened.exec('PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA secure_delete = ON')
    const prepared = await whenFree(
      () =>
        inTransaction(opened, () => {
          createTables(opened, accountsFile)
          // Of a file that may only be read SQLite makes this a read transaction, without a word.
          opened.exec('UPDATE canary SET id = id WHERE FALSE')
          // A master key for a file that has gone would be taken for what is left of accounts.
          const fate = opening.fate()
          if (fate !== null) throw new FileLost(file, fate)
          return prepare(opened)
        }),
      deadline,
    )
    const files = new OpenedDatabase(opening)
    const lost = files.lost()
    if (lost !== null) throw lost
    return { file, database, prepared, opened: files, isUnchecked }
  } catch (error) {
    database?.close()
    const fate = place?.fate() ?? null
    throw fate === null ? explainFailure(file, error, closed) : new FileLost(file, fate)
  }
}
