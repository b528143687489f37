/** The data directory: it and everything in it is its owner's alone. */
import { chmodSync, lstatSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

const FOLDER = 0o700
const FILE = 0o600
const OTHERS = 0o077

/**
 * What we write there: databases with their logs, the lock, where the gateway listens. Not `master.key`, which is refused when it was
 * open to others: tightened, nobody would learn that it may be known.
 */
const OURS = /^(accounts\.db|journal\.db|serve\.lock)(-wal|-shm|-journal)?$|^serve\.json$/
const ALSO_OURS = 'master.key'

/** Makes the directory, closed to others, or tightens what is there: files of ours, and the folder when it holds nothing else. */
export function openDataDir(dataDir: string): void {
  try {
    mkdirSync(dataDir, { recursive: true, mode: FOLDER })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new Error(`the data directory ${dataDir} cannot be made (${code ?? 'unknown reason'})`, {
      cause: error,
    })
  }
  // Windows has no such modes.
  if (process.platform === 'win32') return
  // Whatever this process writes is its owner's alone; SQLite gives its logs the mode of their file.
  process.umask(process.umask(OTHERS) | OTHERS)
  const names = readdirSync(dataDir)
  for (const name of names) if (OURS.test(name)) tighten(join(dataDir, name), FILE)
  // A folder that others use as well is not ours to close.
  if (names.length > 0 && names.every(name => OURS.test(name) || name.startsWith(ALSO_OURS)))
    tighten(dataDir, FOLDER)
}

/** Takes a mode from others. What belongs to somebody else stays as it is: whether it can be used shows when it is opened. */
function tighten(path: string, mode: number): void {
  try {
    const status = lstatSync(path)
    if (!status.isSymbolicLink() && (status.mode & OTHERS) !== 0) chmodSync(path, mode)
  } catch {
    // Gone meanwhile, or not ours.
  }
}
