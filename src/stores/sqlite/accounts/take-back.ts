/** Takes back a data directory that was made for nothing: by a command that was refused, or a start that failed. */
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { holdsOnlyOurs, missingFolders, removeFolders } from '../data-dir.ts'
import { DatabaseSync } from '../driver.ts'
import { sizeOf } from '../place.ts'
import { accountsFile } from './schema.ts'

/**
 * To be asked before anything is made. What it returns removes the folders that were missing then and are there now, with the files that we
 * write. A data directory that holds an account, or anything else than our files, stays.
 */
export function takingBack(dataDir: string): () => void {
  const missing = missingOrNone(dataDir)
  return () => {
    if (missing.length === 0) return
    try {
      if (existsSync(dataDir)) removeUnused(dataDir)
      removeFolders(missing)
    } catch {
      // In use, or out of reach: then it stays as it is.
    }
  }
}

/** What cannot be looked at is not made either. */
function missingOrNone(dataDir: string): readonly string[] {
  try {
    return missingFolders(dataDir)
  } catch {
    return []
  }
}

/** Removes our files from a directory; throws while somebody writes there. */
function removeUnused(dataDir: string): void {
  const file = join(dataDir, accountsFile.name)
  if (!existsSync(file)) return
  const database = new DatabaseSync(file, { timeout: 0 })
  try {
    // To begin with an empty file takes a journal, for which a full disk has no room.
    if (sizeOf(file) === 0) database.exec('PRAGMA journal_mode = MEMORY')
    // Whoever writes an account has this lock: before, it is seen here; afterwards it finds its file gone (transactions.ts).
    whileLocked(database, () => {
      const names = readdirSync(dataDir)
      if (hasAccounts(database) || !holdsOnlyOurs(names)) return
      // The file last: others without it would be taken for what is left of accounts (present.ts).
      const others = names.filter(name => name !== accountsFile.name)
      for (const name of [...others, accountsFile.name]) rmSync(join(dataDir, name), { force: true })
    })
  } finally {
    database.close()
  }
}

/** Keeps writers away. Nothing is written that would have to be committed. */
function whileLocked(database: DatabaseSync, work: () => void): void {
  database.exec('BEGIN IMMEDIATE')
  try {
    work()
  } finally {
    database.exec('ROLLBACK')
  }
}

function hasAccounts(database: DatabaseSync): boolean {
  const { tables } = database
    .prepare("SELECT count(*) AS tables FROM sqlite_schema WHERE name = 'account'")
    .get() as { tables: number }
  return tables > 0 && database.prepare('SELECT 1 FROM account LIMIT 1').get() !== undefined
}
