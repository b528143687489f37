/** What a keeper knows, kept in a file for the keeper that comes after it in the same gateway. */
import { readFileSync, renameSync, writeFileSync } from 'node:fs'

/** Of which gateway it is: what one is called from its start to its end. */
interface OfGateway {
  readonly gateway: string
}

/** What this gateway has kept; null where it has not, or the file cannot be read. */
export function readKept(file: string, gateway: string): object | null {
  try {
    const kept = JSON.parse(readFileSync(file, 'utf8')) as OfGateway
    return kept.gateway === gateway ? kept : null
  } catch {
    return null
  }
}

/** Keeps it. Where the disk takes nothing, the next keeper begins as one that knows nothing. */
export function keepForNext(file: string, gateway: string, known: object): void {
  try {
    writeFileSync(`${file}.new`, JSON.stringify({ gateway, ...known } satisfies OfGateway), { mode: 0o600 })
    renameSync(`${file}.new`, file)
  } catch {
    // That a disk is full is logged by those who cannot do without it.
  }
}
