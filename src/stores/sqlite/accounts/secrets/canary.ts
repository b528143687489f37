/** A sealed value that everybody knows: it shows which master key opens a database. */
import type { KeyObject } from 'node:crypto'
import { open, seal } from './seal.ts'

const OWNER = 'canary'
const TEXT = 'tollgate'

/** A new canary of a master key. */
export function sealCanary(masterKey: KeyObject): Buffer {
  return seal(masterKey, OWNER, TEXT)
}

/** Whether this master key has sealed a canary. */
export function opensCanary(masterKey: KeyObject, sealed: Uint8Array): boolean {
  try {
    return open(masterKey, OWNER, sealed) === TEXT
  } catch {
    return false
  }
}
