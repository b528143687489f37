/** A folder that appears with all that is in it, or not at all. */
import { randomBytes } from 'node:crypto'
import { closeSync, fsyncSync, mkdirSync, openSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { accessFault } from '../../../config/words/file-words.ts'

/** Has `fill` fill a new folder, closed to others, under a name of its own beside `dir`, and gives it the name then. `dir` may be an empty folder. */
export async function makeWhole<T>(dir: string, fill: (draft: string) => Promise<T>): Promise<T> {
  const whole = resolve(dir)
  refuseFilled(whole)
  const draft = `${whole}.partial-${randomBytes(4).toString('hex')}`
  try {
    mkdirSync(draft, { mode: 0o700 })
  } catch (error) {
    const why =
      codeOf(error) === 'ENOENT'
        ? `${dirname(whole)} does not exist`
        : `${draft} cannot be made: ${accessFault(error)}`
    throw new Error(why, { cause: error })
  }
  try {
    const result = await fill(draft)
    for (const name of readdirSync(draft)) syncPath(`${draft}/${name}`)
    syncPath(draft)
    renameSync(draft, whole)
    syncPath(dirname(whole))
    return result
  } catch (error) {
    rmSync(draft, { recursive: true, force: true })
    // Filled by somebody else meanwhile.
    if (codeOf(error) === 'ENOTEMPTY' || codeOf(error) === 'EEXIST') refuseFilled(whole)
    throw error
  }
}

/** Throws a sentence where something is in a folder that is to be made. */
export function refuseFilled(dir: string): void {
  try {
    if (readdirSync(dir).length > 0) throw new Error(`${dir} is not empty: name a new folder`)
  } catch (error) {
    const code = codeOf(error)
    if (code === undefined) throw error
    if (code !== 'ENOENT') throw new Error(`${dir} cannot be used: ${accessFault(error)}`, { cause: error })
  }
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code
}

function syncPath(path: string): void {
  if (process.platform === 'win32') return
  const descriptor = openSync(path, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}
