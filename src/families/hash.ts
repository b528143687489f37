/** Hashes of blocks and transactions, as clients and nodes spell them. */
import { decodeJson } from '../jsonrpc/raw.ts'
import type { Raw } from '../jsonrpc/raw.ts'

/** Bytes of a hash with its quotes: 66 characters, each of which may be an escape. */
const LONGEST = 512
const HASH = /^(?:0x)?([0-9a-f]{64})$/

/** The 64 hex digits of a hash, in lower case; null for any other value. */
export function hashDigits(raw: Raw | null | undefined): string | null {
  if (raw == null || raw.length > LONGEST || raw.charCodeAt(0) !== 34) return null
  return HASH.exec((decodeJson(raw) as string).toLowerCase())?.[1] ?? null
}
