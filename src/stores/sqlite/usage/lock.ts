/** Locks that the system gives back whatever way their process ends: one process for a dataDir, one worker for a journal. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from '../driver.ts'
import { explainFailure, isBusy } from '../error.ts'

/** The file whose lock one `serve` holds. */
export const LOCK_NAME = 'serve.lock'
/** Milliseconds: somebody who asks whether it is held (`isLocked`) is in the way for a moment. */
const BRIEF = 100

/** A lock that is held. Keep it: collecting it would unlock. */
export interface Lock {
  release(): void
}

/** Takes the lock of a data directory, or throws a sentence for the operator. */
export function lockDataDir(dataDir: string): Lock {
  const lock = lockFile(join(dataDir, LOCK_NAME))
  if (lock === null) throw new Error(inUse(dataDir))
  return lock
}

/** Throws the same sentence where another process holds it now. */
export function refuseLocked(dataDir: string): void {
  if (isLocked(dataDir)) throw new Error(inUse(dataDir))
}

function inUse(dataDir: string): string {
  return `another tollgate process is using ${dataDir}`
}

/**
 * Takes the lock that a file is for; null while another process holds it, which blocks this one for `patience` milliseconds. Throws a sentence where
 * it cannot be made.
 */
export function lockFile(file: string, patience = BRIEF): Lock | null {
  let database: DatabaseSync | undefined
  try {
    const opened = (database = new DatabaseSync(file, { timeout: patience }))
    opened.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE')
    return {
      release: () => {
        opened.close()
      },
    }
  } catch (error) {
    database?.close()
    if (isBusy(error)) return null
    throw explainFailure(file, error)
  }
}

/** Whether a gateway holds the lock of a data directory now. Takes and makes nothing. */
export function isLocked(dataDir: string): boolean {
  return isLockedFile(join(dataDir, LOCK_NAME))
}

/** The same of the lock that a file is for. */
export function isLockedFile(file: string): boolean {
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
