/** What other processes than `serve` ask of a data directory before they use it. */
import { statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { DatabaseSync } from '../driver.ts'
import { explainFailure } from '../error.ts'
import { PATIENCE } from '../patience.ts'
import { refuseLoneLog, sizeOf } from '../place.ts'
import { isOurs } from '../schema.ts'
import { journalFile } from '../usage/schema.ts'
import { accountsFile } from './schema.ts'

/**
 * Throws a sentence when accounts.db is missing while the journal is there, which is made after it. A new one would be without the accounts that usage
 * was charged to, and nobody would notice before their keys are refused. A master key alone may have been put there before the first start.
 */
export function refuseLostAccounts(dataDir: string): void {
  const file = join(dataDir, accountsFile.name)
  refuseLoneLog(file)
  const journal = join(dataDir, journalFile.name)
  // In this order: whoever makes the files at this moment has accounts.db before the others (docs/decisions/storage.md).
  const others = [journal, `${journal}-wal`].filter(other => sizeOf(other) > 0)
  if (others.length === 0 || sizeOf(file) > 0) return
  const state = statSync(file, { throwIfNoEntry: false }) === undefined ? 'missing' : 'empty'
  const names = others.map(other => basename(other)).join(', ')
  throw new Error(
    `${file} is ${state} while ${names} is there: restore it from a backup, or move ${names} away to start without its accounts`,
  )
}

/** Why there are no accounts in a data directory, as one sentence; null when there are. Makes nothing. */
export function whyNoAccounts(dataDir: string): string | null {
  const file = join(dataDir, accountsFile.name)
  refuseLostAccounts(dataDir)
  return isThere(file) ? null : `there are no accounts in ${dataDir}`
}

/** Whether accounts.db has an account of that id. Needs no master key. */
export function hasAccount(dataDir: string, id: string): boolean {
  return isFound(dataDir, 'SELECT 1 FROM account WHERE id = ?', id)
}

/** Whether accounts.db is a copy of accounts that are kept elsewhere, once it is whole. */
export function isCopy(dataDir: string): boolean {
  const table = 'SELECT 1 FROM sqlite_schema WHERE name = ?'
  return isFound(dataDir, table, 'replica') && isFound(dataDir, 'SELECT 1 FROM replica WHERE change >= ?', 0)
}

/** Reads accounts.db as it is, unless the data directory has none. Needs no master key. */
export async function readAccounts(
  dataDir: string,
  read: (database: DatabaseSync) => Promise<void>,
): Promise<void> {
  if (!isThere(join(dataDir, accountsFile.name))) return
  const database = openToRead(dataDir)
  try {
    await read(database)
  } finally {
    database.close()
  }
}

function openToRead(dataDir: string): DatabaseSync {
  const file = join(dataDir, accountsFile.name)
  const database = new DatabaseSync(file, { readOnly: true, timeout: PATIENCE })
  if (isOurs(database, accountsFile)) return database
  database.close()
  throw new Error(`${file} is a database of another program`)
}

function isFound(dataDir: string, sql: string, value: string | number): boolean {
  let database: DatabaseSync | undefined
  try {
    database = openToRead(dataDir)
    return database.prepare(sql).get(value) !== undefined
  } catch (error) {
    throw explainFailure(join(dataDir, accountsFile.name), error)
  } finally {
    database?.close()
  }
}

/** An empty file is as good as none; what cannot be looked at is there, and opening it says what is wrong. */
function isThere(file: string): boolean {
  try {
    return statSync(file).size > 0
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return code !== 'ENOENT' && code !== 'ENOTDIR'
  }
}
