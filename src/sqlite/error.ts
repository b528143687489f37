/** What SQLite says of a failure, as node:sqlite reports it. */
interface SqliteError extends Error {
  /** Extended result code; the low byte is the primary one. */
  readonly errcode: number
}

// https://sqlite.org/rescode.html
const BUSY = 5
const READONLY = 8
const CORRUPT = 11
const CANTOPEN = 14
const NOTADB = 26

/** Whether another connection held the lock that was asked for. */
export function isBusy(error: unknown): boolean {
  return isSqliteError(error) && primary(error) === BUSY
}

/** A failure on `file` as one sentence for the operator; what SQLite did not say is passed on as it is. */
export function explainFailure(file: string, error: unknown): unknown {
  if (!isSqliteError(error)) return error
  return new Error(sentence(file, error), { cause: error })
}

function sentence(file: string, error: SqliteError): string {
  switch (primary(error)) {
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

function isSqliteError(error: unknown): error is SqliteError {
  return error instanceof Error && 'errcode' in error && typeof error.errcode === 'number'
}

function primary(error: SqliteError): number {
  return error.errcode & 0xff
}
