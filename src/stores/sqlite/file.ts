/** Opening, checking and closing our database files. */
import { statSync } from 'node:fs'
import type { DatabaseSync } from './driver.ts'
import { isOurs } from './schema.ts'
import type { Kind } from './schema.ts'

/** Bytes of a file that is read as a whole before anything is written to it: a fraction of a second. A larger one is checked later (late-check.ts). */
export const CHECKED_AT_ONCE = 64 * 1024 * 1024

/** Reads every page. */
const WHOLE = 'PRAGMA quick_check(1)'
/** Of a file with views the first passes over the list of free pages (seen with SQLite 3.53), which this one reads. */
const FREE_PAGES = 'PRAGMA quick_check(sqlite_schema)'

/**
 * Nothing is written to a file before it is known to be sound and ours; then it is set to write-ahead logging. A large file is read in part only:
 * returns whether the rest is still to be checked, by `checkFile`.
 */
export function prepareFile(database: DatabaseSync, file: string, kind: Kind): boolean {
  if (!isOurs(database, kind)) throw new Error(`${file} is a database of another program`)
  const isLarge = statSync(file).size > CHECKED_AT_ONCE
  for (const check of isLarge ? [FREE_PAGES] : [WHOLE, FREE_PAGES]) checkFile(database, file, check)
  const { journal_mode: mode } = database.prepare('PRAGMA journal_mode = WAL').get() as {
    journal_mode: string
  }
  // Without it a writer elsewhere would shut out our readers.
  if (mode !== 'wal')
    throw new Error(`${file} is on a file system that SQLite cannot share between processes`)
  return isLarge
}

/** Reads every page of a file, which takes long where there are many; throws one sentence when it is not sound. */
export function checkFile(database: DatabaseSync, file: string, check = WHOLE): void {
  const { quick_check: verdict } = database.prepare(check).get() as { quick_check: string }
  if (verdict !== 'ok') throw new Error(`${file} is damaged: ${verdict.replace(/\s+/g, ' ')}`)
}

/** Closes a file, once, so that it is whole without its log. */
export function closeFile(database: DatabaseSync): void {
  if (!database.isOpen) return
  try {
    // Closing alone leaves the log beside the file until the statements are garbage-collected.
    database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  } catch {
    // What could not be moved is safe in the log, and the next start reads it.
  }
  database.close()
}
