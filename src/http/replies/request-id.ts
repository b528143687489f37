import { randomFillSync } from 'node:crypto'

/** Characters of an id: 96 random bits in base64url, so that no two are ever equal. */
const LENGTH = 16
/** Ids made of one draw: asking the system for bytes, and spelling them, costs more than an id. */
const BATCH = 512

const bytes = Buffer.alloc((LENGTH / 4) * 3 * BATCH)

let pool = ''
let at = 0

/** A name for one request: random, so it tells nobody how many requests there were between two of theirs. */
export function nextRequestId(): string {
  if (at === pool.length) {
    pool = randomFillSync(bytes).toString('base64url')
    at = 0
  }
  at += LENGTH
  return pool.slice(at - LENGTH, at)
}
