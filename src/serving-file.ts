/** Tells the command line where the gateway of a dataDir listens. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

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

/** Milliseconds that a gateway gets to say that it lives. */
const PATIENCE = 2_000

/** The gateway that serves this dataDir now; null when none answers. */
export async function servingNow(dataDir: string): Promise<Serving | null> {
  const serving = readServing(dataDir)
  if (serving === null) return null
  try {
    await fetch(`http://${serving.admin}/livez`, { signal: AbortSignal.timeout(PATIENCE) })
    return serving
  } catch {
    return null
  }
}
