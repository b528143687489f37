/** One `serve` per dataDir: a lock that the system gives back whatever way the process ends. */
import { join } from 'node:path'
import { DatabaseSync } from '../sqlite/driver.ts'
import { explainFailure, isBusy } from '../sqlite/error.ts'

/** Takes the lock, or throws a sentence for the operator. Keep what it returns: collecting it would unlock. */
export function lockDataDir(dataDir: string): { release(): void } {
  const file = join(dataDir, 'serve.lock')
  let database: DatabaseSync | undefined
  try {
    const opened = (database = new DatabaseSync(file, { timeout: 0 }))
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
