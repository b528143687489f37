import { mkdirSync } from 'node:fs'
import type { KeyObject } from 'node:crypto'
import { join } from 'node:path'
import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite'
import { unlock } from './canary.ts'
import { PATIENCE, whenFree } from './patience.ts'
import { isOurs, migrate } from './schema.ts'
import { explainFailure } from './sqlite-error.ts'
import { inTransaction } from './transactions.ts'

/** accounts.db, open, checked, up to date and unlocked. */
export interface OpenDatabase {
  readonly file: string
  readonly database: DatabaseSyncInstance
  readonly masterKey: KeyObject
}

/** Opens `dataDir/accounts.db`, making directory, file and master key at first use; a failure is one sentence. */
export async function openDatabase(dataDir: string, env: NodeJS.ProcessEnv): Promise<OpenDatabase> {
  makeDirectory(dataDir)
  const file = join(dataDir, 'accounts.db')
  const deadline = performance.now() + PATIENCE
  let database: DatabaseSyncInstance | undefined
  try {
    const opened = (database = new DatabaseSync(file, { timeout: 0 }))
    await whenFree(() => prepareFile(opened, file), deadline)
    const masterKey = await whenFree(
      () =>
        inTransaction(opened, () => {
          migrate(opened)
          // Of a file that may only be read SQLite makes this a read transaction, without a word.
          opened.exec('UPDATE canary SET id = id WHERE FALSE')
          return unlock(opened, dataDir, env)
        }),
      deadline,
    )
    return { file, database, masterKey }
  } catch (error) {
    database?.close()
    throw explainFailure(file, error)
  }
}

/** Nothing is written to a file before it is known to be sound and ours. */
function prepareFile(database: DatabaseSyncInstance, file: string): void {
  if (!isOurs(database)) throw new Error(`${file} is a database of another program`)
  const { quick_check: verdict } = database.prepare('PRAGMA quick_check(1)').get() as { quick_check: string }
  if (verdict !== 'ok') throw new Error(`${file} is damaged: ${verdict.replace(/\s+/g, ' ')}`)
  const { journal_mode: mode } = database.prepare('PRAGMA journal_mode = WAL').get() as {
    journal_mode: string
  }
  // Without it a writer elsewhere would shut out our readers.
  if (mode !== 'wal')
    throw new Error(`${file} is on a file system that SQLite cannot share between processes`)
  database.exec('PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON')
}

function makeDirectory(dataDir: string): void {
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new Error(`the data directory ${dataDir} cannot be made (${code ?? 'unknown reason'})`, {
      cause: error,
    })
  }
}
