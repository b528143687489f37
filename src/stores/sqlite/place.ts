/** Where a database and its write-ahead log are on disk, and whether they still are. */
import { lstatSync, readlinkSync, realpathSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

/** The path of a file behind symbolic links, also of one that is not there yet: SQLite keeps the log beside that. */
export function realPath(file: string): string {
  const link = lstatSync(file, { throwIfNoEntry: false })
  if (link?.isSymbolicLink() !== true) return file
  try {
    return realpathSync(file)
  } catch {
    return resolve(dirname(file), readlinkSync(file))
  }
}

/**
 * Throws a sentence when a database is missing or empty beside a log that holds something. SQLite would make a new one and delete the log, and with it
 * what was committed last.
 */
export function refuseLoneLog(path: string): void {
  const file = realPath(path)
  const log = `${file}-wal`
  // In this order: a file that another process is making has something in it before its log has.
  if (sizeOf(log) === 0) return
  const state = statSync(file, { throwIfNoEntry: false }) === undefined ? 'missing' : 'empty'
  if (sizeOf(file) > 0) return
  throw new Error(
    `${file} is ${state} while ${log} holds changes to it: put the file back, or move the -wal away if its loss is meant`,
  )
}

/** Bytes of a file; 0 where there is none. */
export function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}

/** That an open file is no longer the one at its path: what is written to it is found by nobody. */
export class FileLost extends Error {
  readonly fate: 'removed' | 'replaced'

  constructor(path: string, fate: 'removed' | 'replaced', consequence = '') {
    super(`${path} was ${fate} while it was open${consequence}`)
    this.fate = fate
  }
}

/** A file as it was when it was opened. */
export class OpenedFile {
  readonly path: string
  readonly #dev: bigint
  readonly #ino: bigint

  constructor(path: string) {
    const status = statSync(path, { bigint: true, throwIfNoEntry: false })
    if (status === undefined) throw new FileLost(path, 'removed')
    this.path = path
    this.#dev = status.dev
    this.#ino = status.ino
  }

  /** What has happened to it at its path; null while it is there, and when that cannot be found out. */
  fate(): 'removed' | 'replaced' | null {
    try {
      const now = statSync(this.path, { bigint: true, throwIfNoEntry: false })
      if (now === undefined) return 'removed'
      return now.dev === this.#dev && now.ino === this.#ino ? null : 'replaced'
    } catch {
      return null
    }
  }
}

/** A database and its write-ahead log as they were opened. */
export class OpenedDatabase {
  readonly #files: readonly OpenedFile[]

  /** Once something was read: that makes the log. */
  constructor(file: OpenedFile) {
    this.#files = [file, new OpenedFile(`${file.path}-wal`)]
  }

  /** Why what is written from now on would be lost; null while the files at their paths are the ones that are open. */
  lost(consequence = ''): FileLost | null {
    for (const { path, fate } of this.#files.map(file => ({ path: file.path, fate: file.fate() })))
      if (fate !== null) return new FileLost(path, fate, consequence)
    return null
  }
}
