/** One `serve` per dataDir: a lock that the system gives back whatever way the process ends. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from '../driver.ts'
import { LOCK_NAME } from './files.ts'
import { explainFailure, isBusy } from '../error.ts'

/** Milliseconds: somebody who asks whether it is held (`isLocked`) is in the way for a moment. */
const BRIEF = 100

/** Takes the lock, or throws a sentence for the operator. Keep what it returns: collecting it would unlock. */
export function lockDataDir(dataDir: string): { release(): void } {
  const file = join(dataDir, LOCK_NAME)
  let database: DatabaseSync | undefined
  try {
    const opened = (database = new DatabaseSync(file, { timeout: BRIEF }))
    opened.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE')
    return {
      release: () => {
        opened.close()
      },
    }
  } catch (error) {
    database?.close()
    throw isBusy(error)
      ? new Error(`another tollgate serve is using ${dataDir}`, { cause: error })
      : explainFailure(file, error)
  }
}

/** Whether a gateway holds the lock of a data directory now. Takes and makes nothing. */
export function isLocked(dataDir: string): boolean {
  const file = join(dataDir, LOCK_NAME)
  if (!existsSync(file)) return false
  let database: DatabaseSync | undefined
  try {
    database = new DatabaseSync(file, { readOnly: true, timeout: 0 })
    database.prepare('SELECT count(*) FROM sqlite_schema').get()
    return false
  } catch (error) {
    return isBusy(error)
  } finally {
    database?.close()
  }
}
