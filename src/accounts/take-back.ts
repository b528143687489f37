/** Takes back a data directory that was made for nothing: by a command that was refused, or a start that failed. */
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { holdsOnlyOurs, missingFolders, removeFolders } from '../sqlite/data-dir.ts'
import { DatabaseSync } from '../sqlite/driver.ts'
import { accountsFile } from './schema.ts'

/**
 * To be asked before anything is made. What it returns removes the folders that were missing then and are there now, with the files that we
 * write. A data directory that anybody uses stays: it holds an account or something else, or another process has it open.
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

/** Removes our files from a directory; throws while somebody uses it. */
function removeUnused(dataDir: string): void {
  const names = readdirSync(dataDir)
  if (!holdsOnlyOurs(names)) return
  const file = join(dataDir, accountsFile.name)
  if (!existsSync(file)) return
  const database = new DatabaseSync(file, { timeout: 0 })
  try {
    // The log stays while another process has the file open; who opens it from now on finds the folder gone.
    const { journal_mode: mode } = database.prepare('PRAGMA journal_mode = DELETE').get() as Mode
    if (mode === 'wal') return
    database.exec('BEGIN EXCLUSIVE')
    if (hasAccounts(database)) return
    for (const name of names) rmSync(join(dataDir, name), { force: true })
  } finally {
    database.close()
  }
}

interface Mode {
  readonly journal_mode: string
}

function hasAccounts(database: DatabaseSync): boolean {
  const { tables } = database
    .prepare("SELECT count(*) AS tables FROM sqlite_schema WHERE name = 'account'")
    .get() as { tables: number }
  return tables > 0 && database.prepare('SELECT 1 FROM account LIMIT 1').get() !== undefined
}
