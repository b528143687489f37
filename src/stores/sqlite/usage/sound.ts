/** Whether a start could use journal.db, found out without one: nothing is written, and a gateway that runs on it is not held up. */
import { join } from 'node:path'
import { closedFile } from '../closed-file.ts'
import { DatabaseSync } from '../driver.ts'
import { explainFailure } from '../error.ts'
import { CHECKED_AT_ONCE, checkFile } from '../file.ts'
import { refuseLoneLog, sizeOf } from '../place.ts'
import { isOurs, refuseOtherVersion } from '../schema.ts'
import { LOCK_NAME } from './lock.ts'
import { journalFile } from './schema.ts'

/** Throws the sentence that a start would end with. A file that is read late by a start is not read here. */
export function refuseUnusableJournal(dataDir: string): void {
  const file = join(dataDir, journalFile.name)
  refuseLoneLog(file)
  const closed = closedFile(join(dataDir, LOCK_NAME)) ?? closedFile(file)
  if (closed !== null) throw new Error(closed)
  if (sizeOf(file) === 0) return
  let database: DatabaseSync | undefined
  try {
    database = new DatabaseSync(file, { readOnly: true, timeout: 1000 })
    if (!isOurs(database, journalFile)) throw new Error(`${file} is a database of another program`)
    refuseOtherVersion(database, journalFile)
    if (sizeOf(file) <= CHECKED_AT_ONCE) checkFile(database, file)
  } catch (error) {
    throw explainFailure(file, error)
  } finally {
    database?.close()
  }
}
