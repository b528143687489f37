import { statfsSync } from 'node:fs'
import { dirname } from 'node:path'
import { whyClosed } from './closed-file.ts'
import { realPath } from './place.ts'

/** What SQLite says of a failure, as node:sqlite reports it. */
interface SqliteError extends Error {
  /** Extended result code; the low byte is the primary one. */
  readonly errcode: number
}

// https://sqlite.org/rescode.html
const BUSY = 5
const READONLY = 8
const IOERR = 10
const CORRUPT = 11
const FULL = 13
const CANTOPEN = 14
const NOTADB = 26

/** Bytes that opening a file takes besides it: the index of its log alone has 32 KiB. */
const ROOM = 128 * 1024

/** Whether another connection held the lock that was asked for. */
export function isBusy(error: unknown): boolean {
  return isSqliteError(error) && primary(error) === BUSY
}

/**
 * A failure on `file` as one sentence for the operator; what SQLite did not say is passed on as it is. `closed` is which file was closed to us before it
 * was opened (closed-file.ts): SQLite may have removed that one since.
 */
export function explainFailure(file: string, error: unknown, closed: string | null = null): unknown {
  if (!isSqliteError(error)) return error
  return new Error(sentence(file, error, closed), { cause: error })
}

function sentence(file: string, error: SqliteError, before: string | null): string {
  const code = primary(error)
  // What the system said is not passed on: a log that cannot be made is an I/O error, or a file that cannot be opened.
  if (code === FULL || code === IOERR || code === CANTOPEN) {
    const dir = dirname(realPath(file))
    if (isFull(dir)) return `${file} cannot be used: the disk of ${dir} is full`
  }
  const closed = code === READONLY || code === IOERR || code === CANTOPEN ? (before ?? whyClosed(file)) : null
  if (closed !== null) return closed
  switch (code) {
    case BUSY:
      return `${file} is locked by another process`
    case READONLY:
    case CANTOPEN:
      return `${file} cannot be opened for writing`
    case CORRUPT:
      return `${file} is damaged: ${error.message}`
    case NOTADB:
      return `${file} is not a SQLite database`
    default:
      return `${file}: ${error.message}`
  }
}

function isFull(dir: string): boolean {
  try {
    const { blocks, bavail, bsize } = statfsSync(dir)
    // One like /proc has no blocks at all.
    return blocks > 0 && bavail * bsize < ROOM
  } catch {
    return false
  }
}

function isSqliteError(error: unknown): error is SqliteError {
  return error instanceof Error && 'errcode' in error && typeof error.errcode === 'number'
}

function primary(error: SqliteError): number {
  return error.errcode & 0xff
}
