/** One `serve` per dataDir: a lock that the system gives back whatever way the process ends. */
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'

/** Takes the lock, or throws a sentence for the operator. Keep what it returns: collecting it would unlock. */
export function lockDataDir(dataDir: string): { release(): void } {
  const database = new DatabaseSync(join(dataDir, 'serve.lock'), { timeout: 0 })
  try {
    database.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE')
  } catch {
    database.close()
    throw new Error(`another tollgate serve is using ${dataDir}`)
  }
  return {
    release: () => {
      database.close()
    },
  }
}
