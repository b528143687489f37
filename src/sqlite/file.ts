/** Opening and closing our database files. */
import type { DatabaseSyncInstance } from '@photostructure/sqlite'
import { isOurs } from './schema.ts'
import type { Kind } from './schema.ts'

/** Of a file with views the first passes over the list of free pages (seen with SQLite 3.53), which the second reads. */
const CHECKS = ['PRAGMA quick_check(1)', 'PRAGMA quick_check(sqlite_schema)']

/** Nothing is written to a file before it is known to be sound and ours; then it is set to write-ahead logging. */
export function prepareFile(database: DatabaseSyncInstance, file: string, kind: Kind): void {
  if (!isOurs(database, kind)) throw new Error(`${file} is a database of another program`)
  for (const check of CHECKS) {
    const { quick_check: verdict } = database.prepare(check).get() as { quick_check: string }
    if (verdict !== 'ok') throw new Error(`${file} is damaged: ${verdict.replace(/\s+/g, ' ')}`)
  }
  const { journal_mode: mode } = database.prepare('PRAGMA journal_mode = WAL').get() as {
    journal_mode: string
  }
  // Without it a writer elsewhere would shut out our readers.
  if (mode !== 'wal')
    throw new Error(`${file} is on a file system that SQLite cannot share between processes`)
}

/** Closes a file, once, so that it is whole without its log. */
export function closeFile(database: DatabaseSyncInstance): void {
  if (!database.isOpen) return
  try {
    // Closing alone leaves the log beside the file until the statements are garbage-collected.
    database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  } catch {
    // What could not be moved is safe in the log, and the next start reads it.
  }
  database.close()
}
