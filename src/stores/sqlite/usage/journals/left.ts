/** Journals that processes have left behind, killed before the ledger had taken over what is in them. */
import { randomBytes } from 'node:crypto'
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { DatabaseSync } from '../../driver.ts'
import { explainFailure } from '../../error.ts'
import { refuseLoneLog } from '../../place.ts'
import { isOurs, hasTables } from '../../schema.ts'
import { openUsageDatabase } from '../database.ts'
import type { UsageDatabase } from '../database.ts'
import type { Usage } from '../fold.ts'
import { isLocked, isLockedFile, lockFile } from '../lock.ts'
import type { Lock } from '../lock.ts'
import { journalFile } from '../schema.ts'
import { unfolded } from './unfolded.ts'

/** `journal-<worker>-<random>.db`: a name is never used again. */
const NAME = /^journal-\d+-[0-9a-f]{16}\.db$/
/** Milliseconds between two looks for journals that nobody writes any more, and until one that could not be taken over is tried again. */
const EVERY = 1_000
const AGAIN = 30_000
/** Milliseconds that taking over holds the thread at a time, and counters that it takes in them at most. */
const SLICE = 2
const AT_ONCE = 1_000

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
export const UNREADABLE = 'the journal of a worker that has ended cannot be taken over; it is tried again'

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
    file,
    database,
    leave: isTaken => {
      if (isTaken) remove(dataDir, file)
      lock.release()
      if (isTaken) rmSync(join(dataDir, lockName(file)), { force: true })
    },
  }
}

/** Looks for journals whose processes are gone, and has the ledger take them over between other work. */
export class LeftJournals {
  readonly #ledger: UsageDatabase
  readonly #dataDir: string
  readonly #unreadable: (file: string, error: Error) => void
  readonly #again: number
  readonly #timer: NodeJS.Timeout
  /** Those that could not be taken over, each reported once, and when they are tried again. */
  readonly #failed = new Map<string, number>()
  /** Those of which something was taken: what their processes have sent is in them. */
  readonly #begun = new Set<string>()
  #looking: Promise<void> | null = null
  #isClosed = false

  /** `again`: milliseconds until one that could not be taken over is tried again. */
  constructor(
    ledger: UsageDatabase,
    dataDir: string,
    unreadable: (file: string, error: Error) => void,
    again = AGAIN,
  ) {
    this.#ledger = ledger
    this.#dataDir = dataDir
    this.#unreadable = unreadable
    this.#again = again
    // Where the directory or the ledger is gone, their owner reports it.
    this.#timer = setInterval(() => void this.look().catch(() => undefined), EVERY)
    this.#timer.unref()
  }

  /** Takes over what there is now; those who ask meanwhile share it. Rejects where it is closed before the end. */
  look(): Promise<void> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = null
    })
    return this.#looking
  }

  /** Takes over what a worker sends. A killed one's last batch may be read when its whole journal, which has it, is being taken over. */
  take(file: string, place: number, usage: readonly Usage[]): void {
    if (!this.#begun.has(file)) this.#ledger.take(file, place, usage)
  }

  /** Resolves when the slice under way is over. What is left then is taken over by the next one who looks. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    this.#isClosed = true
    await this.#looking?.catch(() => undefined)
  }

  async #look(): Promise<void> {
    const now = performance.now()
    for (const file of journalsIn(this.#dataDir))
      if ((this.#failed.get(file) ?? 0) <= now) await this.#lookAt(file)
    if (this.#isClosed) throw new Error('journals are left that nobody takes over any more')
    // A worker that ends in order removes its file when all of it is taken.
    const there = journalsIn(this.#dataDir)
    for (const file of this.#ledger.takenFiles()) if (!there.includes(file)) this.#ledger.forget(file)
  }

  async #lookAt(file: string): Promise<void> {
    let lock: Lock | null = null
    try {
      lock = lockOf(this.#dataDir, file)
      if (lock === null) return
      await this.#takeOver(file)
      if (!this.#isClosed) rmSync(join(this.#dataDir, lockName(file)), { force: true })
    } catch (error) {
      // Its worker has ended in order meanwhile, and removed it and its lock.
      if (!journalsIn(this.#dataDir).includes(file)) return
      if (!this.#failed.has(file)) this.#unreadable(file, error as Error)
      this.#failed.set(file, performance.now() + this.#again)
    } finally {
      lock?.release()
    }
  }

  /** A slice in each turn of the loop. */
  async #takeOver(file: string): Promise<void> {
    const round = takeOverLeft(this.#ledger, this.#dataDir, file, SLICE, () => this.#begun.add(file))
    while (!this.#isClosed && round.next().done !== true) await turn()
    round.return()
  }
}

/**
 * Takes over what a journal holds that nobody writes any more, and removes it, in slices of about `ms` milliseconds: it yields after each, and whoever
 * is killed there leaves the rest to the next one. `begins` is called before anything is taken. Throws one sentence where the journal cannot be read.
 */
export function* takeOverLeft(
  ledger: UsageDatabase,
  dataDir: string,
  file: string,
  ms: number,
  begins: () => unknown = () => undefined,
): Generator<void, void> {
  const left = openLeft(dataDir, file)
  try {
    const { counters } = yield* unfolded(left, ms, ledger.taken(file))
    begins()
    // A batch may have come while the journal was read.
    const from = ledger.taken(file)
    const rest = counters.filter(({ place }) => place > from)
    for (let at = 0; at < rest.length;) {
      at += ledger.takeLeft(file, rest.slice(at, at + AT_ONCE), ms)
      yield
    }
  } finally {
    left.close()
  }
  remove(dataDir, file)
  ledger.forget(file)
}

/** Opens it to be read alone: to check all of it, or to write its log back at the end, would hold the thread for as long as that takes. */
function openLeft(dataDir: string, file: string): DatabaseSync {
  const path = join(dataDir, file)
  let left: DatabaseSync | undefined
  try {
    refuseLoneLog(path)
    left = new DatabaseSync(path, { readOnly: true })
    if (isOurs(left, journalFile) && hasTables(left, journalFile)) return left
    // Its process was killed before it had created the tables.
    left.close()
    left = undefined
    openUsageDatabase(dataDir, file).close()
    return (left = new DatabaseSync(path, { readOnly: true }))
  } catch (error) {
    left?.close()
    throw explainFailure(path, error)
  }
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
