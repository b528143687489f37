import { randomBytes } from 'node:crypto'
import { BoundedCache } from '../../../limits/bounded-cache.ts'
import {
  MOST_SESSIONS,
  SESSION_IDLE,
  SESSION_LIFE,
  SESSIONS_PER_ACCOUNT,
  USE_RECORDED_EVERY,
} from '../../../ports/sessions.ts'
import type { Sessions } from '../../../ports/sessions.ts'
import type { SignIn } from '../../../ports/keys.ts'
import type { DatabaseSync } from '../driver.ts'
import { hashKey } from './secrets/hash.ts'
import type { Transactions } from './transactions.ts'

/** 256 bits, as base64url. */
const ID = /^[\w-]{43}$/

/** The port Sessions on accounts.db, which holds the SHA-256 of an id and never the id. */
export class SqliteSessions implements Sessions {
  readonly #table: SessionTable
  readonly #transactions: Transactions
  /** By hash in hex, the last use that this process has tried to record: it counts while the file cannot be written, too. */
  readonly #used = new BoundedCache<number>(MOST_SESSIONS)

  /** The holder keeps the database referenced. */
  constructor(database: DatabaseSync, transactions: Transactions) {
    this.#table = new SessionTable(database)
    this.#transactions = transactions
  }

  async open(signIn: SignIn, now: number): Promise<string> {
    const id = randomBytes(32).toString('base64url')
    await this.#transactions.run(() => {
      this.#table.removeEnded(now - SESSION_IDLE, now - SESSION_LIFE)
      this.#table.keep(signIn.accountId, { ofAccount: SESSIONS_PER_ACCOUNT - 1, ofAll: MOST_SESSIONS - 1 })
      this.#table.insert(hashKey(id), signIn, now)
    })
    return id
  }

  find(id: string, now: number): SignIn | null {
    if (!ID.test(id)) return null
    const idHash = hashKey(id)
    const row = this.#table.find(idHash)
    if (row === null) return null
    const usedAt = Math.max(row.usedAt, this.#used.get(idHash.toString('hex')) ?? 0)
    if (now - usedAt >= SESSION_IDLE || now - row.openedAt >= SESSION_LIFE) return null
    if (now - usedAt >= USE_RECORDED_EVERY) this.#use(idHash, now)
    return row.signIn
  }

  async end(id: string): Promise<void> {
    if (!ID.test(id)) return
    const idHash = hashKey(id)
    // Anybody may send any id: one that is not there is not worth a lock.
    if (this.#table.find(idHash) === null) return
    await this.#transactions.run(() => {
      this.#table.remove(idHash)
    })
  }

  #use(idHash: Buffer, now: number): void {
    this.#used.set(idHash.toString('hex'), now)
    const recording = this.#transactions.run(() => {
      this.#table.use(idHash, now)
    })
    // It is tried again after the next minute; whoever signs in or changes something meanwhile hears why.
    recording.catch(() => undefined)
  }
}

/** Sessions that go at once where there are too many. */
const ROOM = MOST_SESSIONS / 100

/** One row. Times are milliseconds since the Unix epoch. */
interface SessionRow {
  readonly signIn: SignIn
  readonly openedAt: number
  readonly usedAt: number
}

interface Found {
  readonly account_id: string
  readonly token_hash: Uint8Array
  readonly endpoint_id: string | null
  readonly opened_at: number
  readonly used_at: number
}

/** The statements on table `session`. Writes belong in a transaction. */
class SessionTable {
  readonly #sql

  constructor(database: DatabaseSync) {
    this.#sql = {
      find: database.prepare(`
        SELECT account_id, token_hash, endpoint_id, opened_at, used_at FROM session WHERE id_hash = ?`),
      insert: database.prepare('INSERT INTO session VALUES (?, ?, ?, ?, ?, ?)'),
      use: database.prepare('UPDATE session SET used_at = ? WHERE id_hash = ? AND used_at < ?'),
      remove: database.prepare('DELETE FROM session WHERE id_hash = ?'),
      removeEnded: database.prepare('DELETE FROM session WHERE used_at <= ? OR opened_at <= ?'),
      keepOfAccount: database.prepare(`
        DELETE FROM session WHERE id_hash IN (
          SELECT id_hash FROM session WHERE account_id = ? ORDER BY used_at DESC LIMIT -1 OFFSET ?)`),
      count: database.prepare('SELECT count(*) AS count FROM session'),
      // Of accounts with many the oldest ones go first: who has one session keeps it, however many others sign in.
      makeRoom: database.prepare(`
        DELETE FROM session WHERE id_hash IN (
          SELECT id_hash FROM (
            SELECT id_hash, used_at, row_number() OVER (PARTITION BY account_id ORDER BY used_at DESC) AS place FROM session
          ) ORDER BY place DESC, used_at LIMIT ?)`),
    }
  }

  find(idHash: Buffer): SessionRow | null {
    const row = this.#sql.find.get(idHash) as Found | undefined
    if (row === undefined) return null
    const { account_id: accountId, endpoint_id: endpointId } = row
    const tokenHash = Buffer.from(row.token_hash).toString('hex')
    return { signIn: { accountId, tokenHash, endpointId }, openedAt: row.opened_at, usedAt: row.used_at }
  }

  insert(idHash: Buffer, { accountId, tokenHash, endpointId }: SignIn, now: number): void {
    this.#sql.insert.run(idHash, accountId, Buffer.from(tokenHash, 'hex'), endpointId, now, now)
  }

  /** Another process may have recorded a later use: that one stays. */
  use(idHash: Buffer, now: number): void {
    this.#sql.use.run(now, idHash, now)
  }

  remove(idHash: Buffer): void {
    this.#sql.remove.run(idHash)
  }

  /** Removes those that were last used, or opened, at these times or earlier. */
  removeEnded(usedBy: number, openedBy: number): void {
    this.#sql.removeEnded.run(usedBy, openedBy)
  }

  /** Removes all but the `most` last used ones of one account, and of all until there is room. */
  keep(accountId: string, most: { readonly ofAccount: number; readonly ofAll: number }): void {
    this.#sql.keepOfAccount.run(accountId, most.ofAccount)
    const { count } = this.#sql.count.get() as { count: number }
    // All rows are looked at: room is made for many at once.
    if (count > most.ofAll) this.#sql.makeRoom.run(ROOM)
  }
}
