import { ONCE_KEPT } from '../../../ports/audit.ts'
import type { Once } from '../../../ports/audit.ts'
import type { DatabaseSync } from '../driver.ts'
import { hashKey } from './secrets/hash.ts'
import type { KeyRing } from './secrets/key-ring.ts'

/** What the results are sealed for. */
export const ONCE_OWNER = 'once'

/** Requests that are carried out once: their results, sealed as they may hold a secret. Runs in write transactions; the holder keeps the database referenced. */
export class OnceTable {
  readonly #ring: KeyRing
  readonly #now: () => number
  readonly #sql

  /** `now` in Unix seconds. */
  constructor(database: DatabaseSync, ring: KeyRing, now: () => number) {
    this.#ring = ring
    this.#now = now
    this.#sql = {
      find: database.prepare('SELECT request_hash, sealed_result FROM once WHERE key_hash = ?'),
      insert: database.prepare('INSERT INTO once VALUES (?, ?, ?, ?)'),
      forget: database.prepare('DELETE FROM once WHERE at <= ?'),
    }
  }

  /** The result of the first time, or of `work` now. What `work` refuses with a word is not remembered: it may be mended and sent again. */
  run<T extends object | string>({ key, request }: Once, work: () => T): T | 'other_request' {
    const now = this.#now()
    this.#sql.forget.run(now - ONCE_KEPT)
    const [keyHash, requestHash] = [hashKey(key), hashKey(request)]
    const found = this.#sql.find.get(keyHash) as
      { request_hash: Uint8Array; sealed_result: Uint8Array } | undefined
    if (found !== undefined)
      return requestHash.equals(found.request_hash)
        ? (JSON.parse(this.#ring.open(ONCE_OWNER, found.sealed_result)) as T)
        : 'other_request'
    const result = work()
    if (typeof result !== 'string') {
      const sealed = this.#ring.seal(ONCE_OWNER, JSON.stringify(result))
      this.#sql.insert.run(keyHash, requestHash, sealed, now)
    }
    return result
  }
}
