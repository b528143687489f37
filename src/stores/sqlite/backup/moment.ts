/**
 * All files of a data directory as they are at one moment, while gateways write to them.
 *
 * Each file is pinned by a read transaction, which in write-ahead logging sees the file as it was when it began, however long it lasts, and is in nobody's
 * way. The moment is one in which none of the files changes:
 *
 * - the journals of workers change with every call. A write transaction without a write is open on each for a moment: commits wait for it and are
 *   tried again every 5 ms, for a second at most (usage/journal.ts);
 * - accounts.db and journal.db are not locked, as somebody might be refused for it. Whether they have changed is known by `data_version` before and after
 *   all are pinned; if they have, it is done again. In one process, where calls are charged into journal.db itself, this is the whole of it for usage: one
 *   read transaction is one moment.
 *
 * So every call whose reply has left by then is in one of the files, as its charge was committed before, and none later is. None is in two of them: what the
 * ledger has taken over of a journal it has with the place up to which it did (`taken`), and readers pass over that part of the journal. A journal that was
 * taken over whole is first removed and then forgotten, each by a process that needs to write to the ledger after it, so a journal that is in the directory
 * at the moment is still named there. The directory is read at the moment too.
 */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { accountsFile } from '../accounts/schema.ts'
import { DatabaseSync } from '../driver.ts'
import { isBusy } from '../error.ts'
import { journalsIn } from '../usage/journals/left.ts'
import { journalFile } from '../usage/schema.ts'

/** Milliseconds that locks are held at most while others are waited for, and between two attempts. */
const HELD = 20
const PAUSE = 7
const ATTEMPTS = 1_000
/** Milliseconds that opening a file waits for a checkpoint. */
const PATIENCE = 5_000

/** A file, readable as it was at the moment until it is released. */
export interface Pinned {
  readonly name: string
  readonly database: DatabaseSync
  release(): void
}

/** Pins all files of a data directory; the caller releases each. */
export async function pinAll(dataDir: string): Promise<readonly Pinned[]> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const pinned = tryToPin(dataDir)
    if (pinned !== null) return pinned
    await sleep(PAUSE * Math.random())
  }
  throw new Error(`the files of ${dataDir} change too fast to be copied`)
}

function tryToPin(dataDir: string): readonly Pinned[] | null {
  const opened: DatabaseSync[] = []
  const open = (name: string, mode: 'ro' | 'rw'): DatabaseSync => {
    const database = openFile(join(dataDir, name), mode)
    opened.push(database)
    return database
  }
  const pinned: Pinned[] = []
  try {
    const journals = journalsIn(dataDir)
    const shared = [accountsFile.name, journalFile.name].filter(name => isThere(join(dataDir, name)))
    const versions = shared.map(name => open(name, 'ro').prepare('PRAGMA data_version'))
    const readers = [...shared, ...journals].map(name => ({ name, database: open(name, 'ro') }))
    const looks = readers.map(({ database }) => database.prepare('SELECT count(*) FROM sqlite_schema'))
    const locks = journals.map(name => open(name, 'rw'))
    const before = versions.map(version => JSON.stringify(version.get()))
    lockAll(locks)
    readers.forEach(({ database }, i) => {
      database.exec('BEGIN')
      looks[i]!.get()
    })
    const isStill =
      versions.every((version, i) => JSON.stringify(version.get()) === before[i]) &&
      journalsIn(dataDir).join() === journals.join()
    for (const lock of locks) lock.exec('ROLLBACK')
    if (!isStill) return null
    for (const { name, database } of readers)
      pinned.push({
        name,
        database,
        release: () => {
          if (database.isOpen) database.close()
        },
      })
    return pinned
  } catch (error) {
    // One that has been taken over meanwhile is gone; one that is locked for long is tried again.
    if (isBusy(error) || isGone(error)) return null
    throw error
  } finally {
    const kept = new Set(pinned.map(({ database }) => database))
    for (const database of opened) if (!kept.has(database)) database.close()
  }
}

/** Opens a file that has to be there: another process may have removed it. */
function openFile(path: string, mode: 'ro' | 'rw'): DatabaseSync {
  const url = pathToFileURL(path)
  url.searchParams.set('mode', mode)
  return new DatabaseSync(url, { timeout: mode === 'ro' ? PATIENCE : 0, readOnly: mode === 'ro' })
}

/** Takes all locks at once: the first ones are not held while somebody writes for long. */
function lockAll(databases: readonly DatabaseSync[]): void {
  const end = performance.now() + HELD
  for (const database of databases)
    for (;;)
      try {
        database.exec('BEGIN IMMEDIATE')
        break
      } catch (error) {
        if (!isBusy(error) || performance.now() > end) throw error
      }
}

function isThere(path: string): boolean {
  return (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0
}

/** SQLITE_CANTOPEN. */
function isGone(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && (Number(error.errcode) & 0xff) === 14
}
