import { OPERATOR } from '../../../ports/audit.ts'
import type { Author } from '../../../ports/audit.ts'
import type { Scope, Token, Tokens, TokenWish } from '../../../ports/tokens.ts'
import type { DatabaseSync } from '../driver.ts'
import type { Changes } from './changes.ts'
import { hashKey } from './secrets/hash.ts'
import { newTokenId } from './secrets/ids.ts'
import { isWellFormedApiToken, mintApiToken } from './secrets/keys.ts'

interface Row {
  readonly id: string
  readonly name: string | null
  readonly scopes: string
  readonly created_at: number
  readonly expires_at: number | null
}

const COLUMNS = 'id, name, scopes, created_at, expires_at'

/** The port Tokens on accounts.db, which holds the SHA-256 of a token and never the token. */
export class SqliteTokens implements Tokens {
  readonly #changes: Changes
  readonly #now: () => number
  readonly #sql

  /** `now` in Unix seconds. The holder keeps the database referenced. */
  constructor(database: DatabaseSync, changes: Changes, now: () => number) {
    this.#changes = changes
    this.#now = now
    this.#sql = {
      insert: database.prepare(
        'INSERT INTO token (id, name, scopes, created_at, expires_at, hash) VALUES (?, ?, ?, ?, ?, ?)',
      ),
      valid: database.prepare(
        `SELECT ${COLUMNS} FROM token WHERE expires_at IS NULL OR expires_at > ? ORDER BY created_at, id`,
      ),
      byId: database.prepare(`SELECT ${COLUMNS} FROM token WHERE id = ?`),
      byHash: database.prepare(
        `SELECT ${COLUMNS} FROM token WHERE hash = ? AND (expires_at IS NULL OR expires_at > ?)`,
      ),
      remove: database.prepare('DELETE FROM token WHERE id = ?'),
      forget: database.prepare('DELETE FROM token WHERE expires_at <= ?'),
    }
  }

  create(
    { name, scopes, expiresAt }: TokenWish,
    by: Author = OPERATOR,
  ): Promise<{ token: Token; secret: string }> {
    const secret = mintApiToken()
    return this.#changes.write(change => {
      const token: Token = { id: newTokenId(), name, scopes, createdAt: this.#now(), expiresAt }
      this.#sql.forget.run(token.createdAt)
      this.#sql.insert.run(
        token.id,
        name,
        JSON.stringify(scopes),
        token.createdAt,
        expiresAt,
        hashKey(secret),
      )
      const after = { name, scopes, expiresAt }
      change.note({ action: 'token.created', target: token.id, accountId: null, before: null, after })
      return { token, secret }
    }, by)
  }

  list(): Token[] {
    return (this.#sql.valid.all(this.#now()) as Row[]).map(toToken)
  }

  find(secret: string): Token | null {
    if (!isWellFormedApiToken(secret)) return null
    const row = this.#sql.byHash.get(hashKey(secret), this.#now()) as Row | undefined
    return row === undefined ? null : toToken(row)
  }

  revoke(id: string, by: Author = OPERATOR): Promise<boolean> {
    return this.#changes.write(change => {
      const row = this.#sql.byId.get(id) as Row | undefined
      if (row === undefined) return false
      this.#sql.remove.run(id)
      const { name, scopes } = toToken(row)
      change.note({
        action: 'token.revoked',
        target: id,
        accountId: null,
        before: { name, scopes },
        after: null,
      })
      return true
    }, by)
  }
}

function toToken({ id, name, scopes, created_at: createdAt, expires_at: expiresAt }: Row): Token {
  return { id, name, scopes: JSON.parse(scopes) as Scope[], createdAt, expiresAt }
}
