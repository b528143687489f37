/** Which file of a database is closed to this process, and why: SQLite says neither, so the system is asked. */
import { accessSync, constants, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { accessFault } from '../../config/words/file-words.ts'
import { realPath } from './place.ts'
import { whyNoneMade } from './data-dir.ts'

/** One sentence about the database, what lies beside it or their folder; null where all of it may be read and written. */
export function whyClosed(file: string): string | null {
  const closed = closedFile(file)
  if (closed !== null) return closed
  const dir = dirname(realPath(file))
  const why = whyNoneMade(dir)
  return why === null ? null : `${file} cannot be opened for writing, as ${dir} cannot be written: ${why}`
}

/** The same without the folder. No file is opened: closing one would give back the locks that this process has on it. */
export function closedFile(file: string): string | null {
  const real = realPath(file)
  for (const path of [real, `${real}-wal`, `${real}-shm`, `${real}-journal`]) {
    const why = whyFileClosed(path)
    if (why !== null) return `${path} cannot be opened for writing: ${why}`
  }
  return null
}

function whyFileClosed(path: string): string | null {
  try {
    if (statSync(path).isDirectory()) return 'it is a directory'
    accessSync(path, constants.R_OK | constants.W_OK)
    return null
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? null : accessFault(error)
  }
}
