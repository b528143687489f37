/** The data directory: it and everything in it is its owner's alone. */
import { chmodSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, rmdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { accessFault } from '../../config/words/file-words.ts'

const FOLDER = 0o700
const FILE = 0o600
const OTHERS = 0o077

/** What a process keeps for the one that comes after it. */
export const STATE_FILE = 'state.json'

/**
 * What we write there: databases with their logs, the lock, state, where the gateway listens. Not `master.key`, which is refused when it was
 * open to others: tightened, nobody would learn that it may be known.
 */
const OURS =
  /^((accounts|journal|journal-\d+-[0-9a-f]{16})\.db|(serve|journal-\d+-[0-9a-f]{16})\.lock)(-wal|-shm|-journal)?$|^serve\.json$|^state\.json(\.new)?$|^keeper\.sock$/
const ALSO_OURS = 'master.key'

/** Makes the directory, closed to others, or tightens what is there: files of ours, and the folder when it holds nothing else. */
export function openDataDir(dataDir: string): void {
  let names: readonly string[]
  try {
    makeFolders(missingFolders(dataDir))
    names = readdirSync(dataDir)
  } catch (error) {
    throw new Error(unusable(dataDir, error), { cause: error })
  }
  // Windows has no such modes.
  if (process.platform === 'win32') return
  // Whatever this process writes is its owner's alone; SQLite gives its logs the mode of their file.
  process.umask(process.umask(OTHERS) | OTHERS)
  for (const name of names) if (OURS.test(name)) tighten(join(dataDir, name), FILE)
  // A folder that others use as well is not ours to close.
  if (names.length > 0 && holdsOnlyOurs(names)) tighten(dataDir, FOLDER)
}

/** Why the directory could not be made, or nothing be written in it; null when it could. Nothing of the attempt stays. */
export function whyNoDataDir(dataDir: string): string | null {
  try {
    const [missing] = missingFolders(dataDir)
    if (missing === undefined) readdirSync(dataDir)
    tryToMake(missing === undefined ? dataDir : dirname(missing))
    return null
  } catch (error) {
    return unusable(dataDir, error)
  }
}

/** Why nothing can be made in a folder that is there; null when it can. */
export function whyNoneMade(dir: string): string | null {
  if (!isThere(dir)) return 'it does not exist'
  try {
    tryToMake(dir)
    return null
  } catch (error) {
    return accessFault(error)
  }
}

/** Of a read-only file system, or one like /proc, modes do not tell. */
function tryToMake(dir: string): void {
  rmdirSync(mkdtempSync(join(dir, '.tollgate-')))
}

/** What cannot be done with a directory, and why. */
function unusable(dataDir: string, error: unknown): string {
  const { code, syscall, path = '' } = error as NodeJS.ErrnoException
  const cannot = `the data directory ${dataDir} cannot be`
  if (syscall === 'scandir') return `${cannot} read: ${accessFault(error)}`
  if (path.startsWith(join(dataDir, '/'))) return `${cannot} written: ${accessFault(error)}`
  return `${cannot} made: ${code === 'ENOTDIR' ? 'part of its path is not a directory' : accessFault(error)}`
}

/** The folders of a path that are not there yet, outermost first. */
export function missingFolders(dir: string): readonly string[] {
  const missing: string[] = []
  for (let at = dir; !isThere(at); at = dirname(at)) missing.unshift(at)
  return missing
}

/** Whether a data directory has nothing in it but what we write there. */
export function holdsOnlyOurs(names: readonly string[]): boolean {
  return names.every(name => OURS.test(name) || name.startsWith(ALSO_OURS))
}

/** Removes folders, outermost first in the list, as far as they are empty. */
export function removeFolders(folders: readonly string[]): void {
  try {
    for (const folder of [...folders].reverse()) rmdirSync(folder)
  } catch {
    // Somebody has put something there.
  }
}

/** One by one: `recursive` of Node.js goes round for ever where a file system takes no folder, as /proc does. */
function makeFolders(missing: readonly string[]): void {
  const made: string[] = []
  try {
    for (const folder of missing) {
      make(folder)
      made.push(folder)
    }
  } catch (error) {
    removeFolders(made)
    throw error
  }
}

/** Another process may be making it too. */
function make(folder: string): void {
  try {
    mkdirSync(folder, { mode: FOLDER })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || !isThere(folder)) throw error
  }
}

/** A link to nowhere is not; a file in the place of a folder shows when the folder is read. */
function isThere(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined
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
