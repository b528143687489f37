/** What is known of reloads, kept in a file for the process that comes after this one in the same gateway. */
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import type { KnownReloads } from './reloader.ts'

/** The file: `gateway` is what the gateway is called from its start to its end. */
interface Kept extends KnownReloads {
  readonly gateway: string
}

/** What this gateway has kept; null where it has not, or the file cannot be read. */
export function readReloads(file: string, gateway: string): KnownReloads | null {
  try {
    const kept = JSON.parse(readFileSync(file, 'utf8')) as Kept
    return kept.gateway === gateway ? kept : null
  } catch {
    return null
  }
}

/** Keeps it. Where the disk takes nothing, the next process begins as one that knows nothing. */
export function keepReloads(file: string, gateway: string, known: KnownReloads): void {
  try {
    writeFileSync(`${file}.new`, JSON.stringify({ gateway, ...known } satisfies Kept), { mode: 0o600 })
    renameSync(`${file}.new`, file)
  } catch {
    // That a disk is full is logged by those who cannot do without it.
  }
}
