import { randomFillSync } from 'node:crypto'

/** Bytes of an id: 96 random bits, so that no two are ever equal. */
const BYTES = 12
/** Ids made of one draw: asking the system for bytes costs more than an id. */
const BATCH = 512

const pool = Buffer.allocUnsafeSlow(BYTES * BATCH)
let at = pool.length

/** A name for one request: random, so it tells nobody how many requests there were between two of theirs. */
export function nextRequestId(): string {
  if (at === pool.length) {
    randomFillSync(pool)
    at = 0
  }
  at += BYTES
  return pool.toString('base64url', at - BYTES, at)
}
