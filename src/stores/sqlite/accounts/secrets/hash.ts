import { hash } from 'node:crypto'

/** SHA-256 of a key or token: what the database is searched by. A key has 190 random bits, so no salt is needed. */
export function hashKey(key: string): Buffer {
  return hash('sha256', key, 'buffer')
}
