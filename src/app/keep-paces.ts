/** Keeps how quickly networks make blocks in a file, for the process that comes after this one. */
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import type { Heads } from '../routes/heads.ts'
import type { Closing } from './closing.ts'
import { stateFile } from '../stores/sqlite/data-dir.ts'

/** How often they are written down, in milliseconds. */
const EVERY = 30_000

/** Has `heads` begin with what is kept, and keeps what is measured from now on. */
export function keepPaces(dataDir: string, heads: Heads, closing: Closing): void {
  const file = stateFile(dataDir, 'paces.json')
  heads.expect(read(file))
  const write = (): void => {
    const paces = heads.paces()
    if (paces.size > 0) replace(file, JSON.stringify(Object.fromEntries(paces)))
  }
  const timer = setInterval(write, EVERY).unref()
  closing.push(() => {
    clearInterval(timer)
    write()
  })
}

/** Empty where the file is missing or incomplete. */
function read(file: string): ReadonlyMap<string, number> {
  try {
    const paces = Object.entries(JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>)
    return new Map(
      paces.filter((pace): pace is [string, number] => typeof pace[1] === 'number' && pace[1] > 0),
    )
  } catch {
    return new Map()
  }
}

function replace(file: string, text: string): void {
  try {
    writeFileSync(`${file}.new`, text, { mode: 0o600 })
    renameSync(`${file}.new`, file)
  } catch {
    // That a disk is full is logged by those who cannot do without it.
  }
}
