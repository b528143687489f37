/** Tells the command line where the gateway of a dataDir listens. */
import { closeSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileFault, thisUser } from '../../config/words/file-words.ts'

/** A gateway that is serving now. */
export interface Serving {
  readonly pid: number
  /** `host:port` as bound. */
  readonly listen: string
  readonly admin: string
  readonly probes?: string
}

const NAME = 'serve.json'

/** Writes the file, or tells why it cannot be: calls are served without it. Returns how to remove it. */
export function writeServing(
  dataDir: string,
  serving: Serving,
  warn: (sentence: string) => void,
): () => void {
  const file = join(dataDir, NAME)
  try {
    writeFileSync(file, `${JSON.stringify(serving)}\n`)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    warn(`${file} cannot be written (${code ?? 'unknown reason'}): explain will not find this gateway`)
    return () => undefined
  }
  return () => {
    rmSync(file, { force: true })
  }
}

/** Who serves this dataDir as far as the file says: a killed process leaves it behind, so ask before believing. */
export function readServing(dataDir: string): Serving | null {
  try {
    return JSON.parse(readFileSync(join(dataDir, NAME), 'utf8')) as Serving
  } catch {
    return null
  }
}

/** That the file is there for others than this user; null when it can be read, or is not there. */
export function whyUnread(dataDir: string): string | null {
  const file = join(dataDir, NAME)
  try {
    closeSync(openSync(file, 'r'))
    return null
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return null
    return `${file}, which names the running gateway, cannot be read by the user ${thisUser()}: ${fileFault(error)}; run the command as the gateway's user`
  }
}
