/** Whether a start could use journal.db, found out without one: nothing is written, and a gateway that runs on it is not held up. */
import { accessSync, constants } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from '../driver.ts'
import { explainFailure } from '../error.ts'
import { checkFile } from '../file.ts'
import { refuseLoneLog, sizeOf } from '../place.ts'
import { isOurs, refuseNewer } from '../schema.ts'
import { CHECKED_AT_ONCE, LOCK_NAME } from './files.ts'
import { journalFile } from './schema.ts'

/** Throws the sentence that a start would end with. A file that is read late by a start is not read here. */
export function refuseUnusableJournal(dataDir: string): void {
  const file = join(dataDir, journalFile.name)
  refuseLoneLog(file)
  for (const each of [join(dataDir, LOCK_NAME), file, `${file}-wal`, `${file}-shm`]) refuseClosed(each)
  if (sizeOf(file) === 0) return
  let database: DatabaseSync | undefined
  try {
    database = new DatabaseSync(file, { readOnly: true, timeout: 1000 })
    if (!isOurs(database, journalFile)) throw new Error(`${file} is a database of another program`)
    refuseNewer(database, journalFile)
    if (sizeOf(file) <= CHECKED_AT_ONCE) checkFile(database, file)
  } catch (error) {
    throw explainFailure(file, error)
  } finally {
    database?.close()
  }
}

/** Throws where a file is there and may not be read and written. */
function refuseClosed(file: string): void {
  try {
    accessSync(file, constants.R_OK | constants.W_OK)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return
    throw new Error(`${file} cannot be opened for writing`, { cause: error })
  }
}
