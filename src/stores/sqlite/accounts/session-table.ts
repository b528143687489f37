import type { DatabaseSync } from '../driver.ts'
import type { SignIn } from '../../../ports/keys.ts'

/** One row. Times are milliseconds since the Unix epoch. */
export interface SessionRow {
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

/** The statements on table `session`. Writes belong in a transaction; the holder keeps the database referenced. */
export class SessionTable {
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
      keep: database.prepare(`
        DELETE FROM session WHERE id_hash IN (
          SELECT id_hash FROM session ORDER BY used_at DESC LIMIT -1 OFFSET ?)`),
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

  /** Removes all but the `most` last used ones: of one account, and of all. */
  keep(accountId: string, most: { readonly ofAccount: number; readonly ofAll: number }): void {
    this.#sql.keepOfAccount.run(accountId, most.ofAccount)
    this.#sql.keep.run(most.ofAll)
  }
}
