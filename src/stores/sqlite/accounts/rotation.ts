/**
 * Replaces the master key while gateways run. Both keys lie in the file meanwhile, each sealed by the other, and the canary is sealed by the new one: from
 * the commit that puts them there every process seals with the new key (secrets/key-ring.ts), so that one pass over the rows finds all that the old one
 * has sealed. Who starts with either key has both, until the pass is over and the row is removed.
 */
import type { KeyObject } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { DatabaseSync } from '../driver.ts'
import type { AuditTable } from './audit.ts'
import { sealCanary } from './secrets/canary.ts'
import { keyText, NEW_KEY, OLD_KEY, PURPOSES } from './secrets/key-ring.ts'
import type { KeyRing } from './secrets/key-ring.ts'
import { deriveKey, masterKeyId } from './secrets/master-key.ts'
import { open, seal } from './secrets/seal.ts'
import type { Transactions } from './transactions.ts'
import { ONCE_OWNER } from './once.ts'

/** Rows of a transaction, and milliseconds between two: others write too. */
const ROWS = 200
const PAUSE = 2
/** Seconds for which what was derived from the old key is still opened: the ids of filters that clients hold. */
const EARLIER_KEPT = 86_400
/** Attempts to have the write-ahead log emptied, 20 ms apart: the sealed keys of the rotation are in it. */
const ATTEMPTS = 100

/** Where sealed values are: the place of a row, for whom it is sealed, and before which place the first is. */
const SEALED = [
  { table: 'endpoint', place: 'seq', owner: 'id', column: 'sealed_key', first: -1 },
  { table: 'old_key', place: 'key_hash', owner: 'endpoint_id', column: 'sealed_key', first: Buffer.alloc(0) },
  {
    table: 'once',
    place: 'key_hash',
    owner: `'${ONCE_OWNER}'`,
    column: 'sealed_result',
    first: Buffer.alloc(0),
  },
  { table: 'webhook', place: 'account_id', owner: 'account_id', column: 'sealed_secret', first: '' },
] as const

interface Row {
  readonly place: number | string | Uint8Array
  readonly owner: string
  readonly sealed: Uint8Array
}

/** The ids of the two keys. */
export interface Rotating {
  readonly from: string
  readonly to: string
}

/** How far a pass has come; `resealed` counts those of all passes, `unopened` are values that neither key opens. */
export interface Pass {
  readonly seen: number
  readonly of: number
  readonly resealed: number
  readonly unopened: readonly string[]
}

interface Parts {
  readonly transactions: Transactions
  readonly ring: KeyRing
  readonly audit: AuditTable
  readonly now: () => number
}

/** The rotation of one database. */
export class KeyRotation {
  readonly #database: DatabaseSync
  readonly #parts: Parts

  /** The holder keeps the database referenced. */
  constructor(database: DatabaseSync, parts: Parts) {
    this.#database = database
    this.#parts = parts
  }

  /** The rotation that has begun and not ended; null where there is none. */
  get underWay(): Rotating | null {
    const { ring } = this.#parts
    ring.look()
    return ring.rotation === null
      ? null
      : { from: masterKeyId(ring.rotation.from), to: masterKeyId(ring.rotation.to) }
  }

  /** The id of the key that everything new is sealed by. */
  get current(): string {
    this.#parts.ring.look()
    return masterKeyId(this.#parts.ring.current)
  }

  /** The id of the key that a process which starts now begins with. */
  get source(): string | null {
    const { source } = this.#parts.ring
    return source === null ? null : masterKeyId(source)
  }

  /** Begins to replace the key by `next`; one that has begun goes on. Throws when that is to another key. */
  async begin(next: KeyObject): Promise<Rotating> {
    const { transactions, ring, audit, now } = this.#parts
    await transactions.run(() => {
      ring.look()
      if (ring.rotation !== null) {
        if (!ring.current.equals(next))
          throw new Error('a rotation to another key is under way: finish it first')
        return
      }
      const old = ring.current
      const sql = (text: string) => this.#database.prepare(text)
      sql('INSERT INTO rotation VALUES (1, ?, ?)').run(
        seal(old, NEW_KEY, keyText(next)),
        seal(next, OLD_KEY, keyText(old)),
      )
      sql('UPDATE canary SET sealed = ?').run(sealCanary(next))
      this.#keepEarlier(old, next)
      const [before, after] = [{ key: masterKeyId(old) }, { key: masterKeyId(next) }]
      const happening = { action: 'master_key.rotating', target: after.key, accountId: null } as const
      audit.insert(now(), 'cli', { ...happening, before, after })
    })
    return this.underWay ?? { from: this.current, to: this.current }
  }

  /** Seals by the new key what the old one has sealed, a few rows in a transaction, until a pass finds nothing more. */
  async *reseal(): AsyncGenerator<Pass> {
    for (let resealed = 0; ;) {
      const of = SEALED.reduce((sum, { table, column }) => sum + this.#count(table, column), 0)
      let pass: Pass = { seen: 0, of, resealed, unopened: [] }
      for (const where of SEALED)
        for (let last: Row['place'] | null = where.first; last !== null;) {
          const rows = this.#rows(where, last)
          last = rows.at(-1)?.place ?? null
          const done = await this.#resealRows(where, rows)
          pass = {
            of,
            seen: pass.seen + rows.length,
            resealed: pass.resealed + done.resealed,
            unopened: [...pass.unopened, ...done.unopened],
          }
          yield pass
        }
      if (pass.resealed === resealed) return
      resealed = pass.resealed
    }
  }

  /**
   * Ends the rotation, all of it having been sealed by the new key: from then on the old one opens nothing. `replace` puts the new one where processes
   * that start find it, before that is committed; nobody else ends this rotation meanwhile. False when another command has ended it.
   */
  async finish({ to }: Rotating, replace: (masterKey: KeyObject) => void): Promise<boolean> {
    const { transactions, ring, audit, now } = this.#parts
    const isEnded = await transactions.run(() => {
      ring.look()
      if (ring.rotation === null || masterKeyId(ring.rotation.to) !== to) return false
      const before = { key: masterKeyId(ring.rotation.from) }
      replace(ring.current)
      this.#database.exec('DELETE FROM rotation')
      const happening = { action: 'master_key.rotated', target: to, accountId: null } as const
      audit.insert(now(), 'cli', { ...happening, before, after: { key: to } })
      return true
    })
    if (isEnded) await this.#emptyLog()
    return isEnded
  }

  /** What was derived from the old key goes on for a while; what is kept of an older one is sealed by the new. */
  #keepEarlier(old: KeyObject, next: KeyObject): void {
    const sql = (text: string) => this.#database.prepare(text)
    const kept = sql('DELETE FROM earlier_key RETURNING purpose, sealed, until').all() as {
      readonly purpose: string
      readonly sealed: Uint8Array
      readonly until: number
    }[]
    const now = this.#parts.now()
    const insert = sql('INSERT INTO earlier_key (purpose, sealed, until) VALUES (?, ?, ?)')
    for (const { purpose, sealed, until } of kept)
      if (until > now) insert.run(purpose, seal(next, purpose, open(old, purpose, sealed)), until)
    for (const purpose of PURPOSES)
      insert.run(purpose, seal(next, purpose, keyText(deriveKey(old, purpose))), now + EARLIER_KEPT)
  }

  #count(table: string, column: string): number {
    const sql = `SELECT count(*) AS rows FROM ${table} WHERE ${column} IS NOT NULL`
    return (this.#database.prepare(sql).get() as { rows: number }).rows
  }

  #rows({ table, place, owner, column }: (typeof SEALED)[number], last: Row['place']): readonly Row[] {
    const sql = `SELECT ${place} AS place, ${owner} AS owner, ${column} AS sealed FROM ${table}
      WHERE ${place} > ? AND ${column} IS NOT NULL ORDER BY ${place} LIMIT ${ROWS}`
    return this.#database.prepare(sql).all(last) as Row[]
  }

  /** Rows that somebody has changed since they were read are sealed by the new key already. */
  async #resealRows(
    { table, place, column }: (typeof SEALED)[number],
    rows: readonly Row[],
  ): Promise<{ readonly resealed: number; readonly unopened: readonly string[] }> {
    const { transactions, ring } = this.#parts
    const unopened: string[] = []
    const changes = rows
      .filter(({ owner, sealed }) => !ring.isNewest(owner, sealed))
      .flatMap(row => {
        try {
          return { ...row, next: seal(ring.current, row.owner, ring.open(row.owner, row.sealed)) }
        } catch {
          unopened.push(`${table} ${row.owner}`)
          return []
        }
      })
    if (changes.length === 0) return { resealed: 0, unopened }
    const update = this.#database.prepare(
      `UPDATE ${table} SET ${column} = ? WHERE ${place} = ? AND ${column} = ?`,
    )
    await transactions.run(() => {
      for (const { next, place: at, sealed } of changes) update.run(next, at, sealed)
    })
    await sleep(PAUSE)
    return { resealed: changes.length, unopened }
  }

  /** Deleted content is overwritten in the file (`secure_delete`), and what the log has of it goes with the log. */
  async #emptyLog(): Promise<void> {
    const checkpoint = this.#database.prepare('PRAGMA wal_checkpoint(TRUNCATE)')
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      if ((checkpoint.get() as { busy: number }).busy === 0) return
      await sleep(20)
    }
  }
}
