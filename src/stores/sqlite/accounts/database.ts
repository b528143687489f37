import type { KeyObject } from 'node:crypto'
import { join } from 'node:path'
import { DatabaseSync } from '../driver.ts'
import { unlock } from './canary.ts'
import { accountsFile } from './schema.ts'
import { explainFailure } from '../error.ts'
import { openDataDir } from '../data-dir.ts'
import { prepareFile } from '../file.ts'
import { refuseLoneLog } from '../place.ts'
import { PATIENCE, whenFree } from '../patience.ts'
import { migrate } from '../schema.ts'
import { inTransaction } from '../transaction.ts'

/** accounts.db, open, checked, up to date and unlocked. */
export interface OpenDatabase {
  readonly file: string
  readonly database: DatabaseSync
  readonly masterKey: KeyObject
}

/** Opens `dataDir/accounts.db`, making directory, file and master key at first use; a failure is one sentence. */
export async function openDatabase(dataDir: string, env: NodeJS.ProcessEnv): Promise<OpenDatabase> {
  openDataDir(dataDir)
  const file = join(dataDir, accountsFile.name)
  const deadline = performance.now() + PATIENCE
  let database: DatabaseSync | undefined
  try {
    refuseLoneLog(file)
    const opened = (database = new DatabaseSync(file, { timeout: 0 }))
    await whenFree(() => prepareFile(opened, file, accountsFile), deadline)
    opened.exec('PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON')
    const masterKey = await whenFree(
      () =>
        inTransaction(opened, () => {
          migrate(opened, accountsFile)
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
