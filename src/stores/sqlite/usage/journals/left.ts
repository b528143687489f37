/** Journals that processes have left behind, killed before the ledger had taken over what is in them. */
import { randomBytes } from 'node:crypto'
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { newCounter } from '../counters.ts'
import { openUsageDatabase } from '../database.ts'
import type { UsageDatabase } from '../database.ts'
import type { Usage } from '../fold.ts'
import { isLocked, isLockedFile, lockFile } from '../lock.ts'
import type { Lock } from '../lock.ts'

/** `journal-<worker>-<random>.db`: a name is never used again. */
const NAME = /^journal-\d+-[0-9a-f]{16}\.db$/
/** Milliseconds between two looks for journals that nobody writes any more. */
const EVERY = 1_000

/** The names of the journals beside a ledger. */
export function journalsIn(dataDir: string): string[] {
  return readdirSync(dataDir)
    .filter(name => NAME.test(name))
    .sort()
}

/** Whether a gateway runs on a data directory: its keeper has the lock, and while that is away each worker has its journal. Takes nothing. */
export function isServed(dataDir: string): boolean {
  if (isLocked(dataDir)) return true
  try {
    return journalsIn(dataDir).some(file => isLockedFile(join(dataDir, lockName(file))))
  } catch {
    return false // it is not there, or this user may not read it, which whoever opens it reports
  }
}

/** What is logged of a journal that cannot be taken over. */
export const UNREADABLE = 'the journal of a worker that has ended cannot be read'

/** The journal of one worker, held as long as its process lives. */
export interface OwnJournal {
  readonly file: string
  readonly database: UsageDatabase
  /** To be called when the database is closed. Removes the file where nothing in it is missing in the ledger. */
  leave(isTaken: boolean): void
}

/** Opens a new journal for the worker at a place. */
export function openOwnJournal(dataDir: string, slot: number): OwnJournal {
  const file = `journal-${slot}-${randomBytes(8).toString('hex')}.db`
  // Before the file is there: whoever sees it finds it taken.
  const lock = lockOf(dataDir, file)
  if (lock === null) throw new Error(`another process has the new journal ${join(dataDir, file)}`)
  const database = openUsageDatabase(dataDir, file)
  return {
    ...{ file, database },
    leave: isTaken => {
      if (isTaken) remove(dataDir, file)
      lock.release()
      if (isTaken) rmSync(join(dataDir, lockName(file)), { force: true })
    },
  }
}

/** Looks for journals whose processes are gone, and has the ledger take them over. */
export class LeftJournals {
  readonly #ledger: UsageDatabase
  readonly #dataDir: string
  readonly #unreadable: (file: string, error: Error) => void
  readonly #timer: NodeJS.Timeout
  /** Those that cannot be read: each is told of once. */
  readonly #told = new Set<string>()
  /** Those that were taken over whole. */
  readonly #taken = new Set<string>()

  constructor(ledger: UsageDatabase, dataDir: string, unreadable: (file: string, error: Error) => void) {
    this.#ledger = ledger
    this.#dataDir = dataDir
    this.#unreadable = unreadable
    this.look()
    this.#timer = setInterval(() => {
      try {
        this.look()
      } catch {
        // The directory or the ledger is gone, which their owner tells of.
      }
    }, EVERY)
    this.#timer.unref()
  }

  /** Takes over what there is now. */
  look(): void {
    const journals = journalsIn(this.#dataDir)
    for (const file of journals) if (!this.#told.has(file)) this.#lookAt(file)
    // A worker that ends in order removes its file when all of it is taken.
    for (const file of this.#ledger.takenFiles()) if (!journals.includes(file)) this.#ledger.forget(file)
  }

  /** Takes over what a worker sends. A killed one's last batch may be read behind its whole journal, which has it. */
  take(file: string, place: number, usage: readonly Usage[]): void {
    if (!this.#taken.has(file)) this.#ledger.take(file, place, usage)
  }

  close(): void {
    clearInterval(this.#timer)
  }

  #lookAt(file: string): void {
    let lock: Lock | null = null
    try {
      lock = lockOf(this.#dataDir, file)
      if (lock === null) return
      takeOverLeft(this.#ledger, this.#dataDir, file)
      this.#taken.add(file)
      rmSync(join(this.#dataDir, lockName(file)), { force: true })
    } catch (error) {
      // Its worker has ended in order meanwhile, and removed it and its lock.
      if (!journalsIn(this.#dataDir).includes(file)) return
      this.#told.add(file)
      this.#unreadable(file, error as Error)
    } finally {
      lock?.release()
    }
  }
}

/** Takes over what a journal holds that nobody writes any more, and removes it. Throws one sentence where it cannot be read. */
export function takeOverLeft(ledger: UsageDatabase, dataDir: string, file: string): void {
  const left = openUsageDatabase(dataDir, file)
  try {
    const { charges, lastPlace } = left.unfolded()
    // Records that were taken over may still be in it.
    const from = ledger.taken(file)
    const usage = charges
      .filter(({ place }) => place > from)
      .map(({ calls, requests, ...key }) => ({ ...newCounter(key), calls, requests }))
    if (usage.length > 0) ledger.take(file, lastPlace, usage)
  } finally {
    left.close()
  }
  remove(dataDir, file)
  ledger.forget(file)
}

function remove(dataDir: string, file: string): void {
  for (const ending of ['', '-wal', '-shm']) rmSync(join(dataDir, `${file}${ending}`), { force: true })
}

function lockName(file: string): string {
  return `${file.slice(0, -'.db'.length)}.lock`
}

/** Waits for nobody: the keeper asks for the locks of all workers every second, and calls wait for the keeper. */
function lockOf(dataDir: string, file: string): Lock | null {
  return lockFile(join(dataDir, lockName(file)), 0)
}
