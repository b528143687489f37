import type { DatabaseSync } from '../driver.ts'
import type { Account, AccountStatus } from '../../../ports/accounts.ts'

interface AccountRow {
  readonly id: string
  readonly name: string
  readonly plan: string
  readonly status: AccountStatus
  readonly created_at: number
}

const COLUMNS = 'id, name, plan, status, created_at'

/** The statements on table `account`. Writes belong in a transaction; the holder keeps the database referenced. */
export class AccountTable {
  readonly #sql

  constructor(database: DatabaseSync) {
    this.#sql = {
      byId: database.prepare(`SELECT ${COLUMNS} FROM account WHERE id = ?`),
      byToken: database.prepare(`SELECT ${COLUMNS} FROM account WHERE token_hash = ?`),
      tokenHash: database.prepare('SELECT token_hash FROM account WHERE id = ?'),
      all: database.prepare(`SELECT ${COLUMNS} FROM account ORDER BY seq`),
      named: database.prepare('SELECT id FROM account WHERE name = ? ORDER BY seq'),
      // Jumps from plan to plan along the index; DISTINCT would walk every account.
      plans: database.prepare(`
        WITH RECURSIVE used (plan) AS (
          SELECT min(plan) FROM account
          UNION ALL
          SELECT (SELECT min(plan) FROM account WHERE plan > used.plan) FROM used WHERE used.plan IS NOT NULL
        )
        SELECT plan FROM used WHERE plan IS NOT NULL`),
      withPlan: database.prepare('SELECT id FROM account WHERE plan = ? ORDER BY seq LIMIT ?'),
      countOfPlan: database.prepare('SELECT count(*) AS accounts FROM account WHERE plan = ?'),
      insert: database.prepare(`
        INSERT INTO account (id, name, plan, status, created_at, token_hash) VALUES (?, ?, ?, ?, ?, ?)`),
      setPlan: database.prepare('UPDATE account SET plan = ? WHERE id = ?'),
      setStatus: database.prepare('UPDATE account SET status = ? WHERE id = ?'),
      setToken: database.prepare('UPDATE account SET token_hash = ? WHERE id = ?'),
    }
  }

  find(id: string): Account | null {
    return toAccount(this.#sql.byId.get(id))
  }

  findByToken(tokenHash: Buffer): Account | null {
    return toAccount(this.#sql.byToken.get(tokenHash))
  }

  /** In hex. */
  tokenHash(id: string): string | null {
    const row = this.#sql.tokenHash.get(id) as { token_hash: Uint8Array } | undefined
    return row === undefined ? null : Buffer.from(row.token_hash).toString('hex')
  }

  all(): Account[] {
    return (this.#sql.all.all() as AccountRow[]).map(row => toAccount(row)!)
  }

  named(name: string): string[] {
    return (this.#sql.named.all(name) as { id: string }[]).map(row => row.id)
  }

  plans(): string[] {
    return (this.#sql.plans.all() as { plan: string }[]).map(row => row.plan)
  }

  /** The accounts of a plan: their number, and the ids of the first `most`. */
  withPlan(plan: string, most: number): { readonly count: number; readonly first: string[] } {
    const { accounts: count } = this.#sql.countOfPlan.get(plan) as { accounts: number }
    const first = (this.#sql.withPlan.all(plan, most) as { id: string }[]).map(({ id }) => id)
    return { count, first }
  }

  insert(account: Account, tokenHash: Buffer): void {
    const { id, name, plan, status, createdAt } = account
    this.#sql.insert.run(id, name, plan, status, createdAt, tokenHash)
  }

  setPlan(id: string, plan: string): void {
    this.#sql.setPlan.run(plan, id)
  }

  setStatus(id: string, status: AccountStatus): void {
    this.#sql.setStatus.run(status, id)
  }

  /** False when there is no such account. */
  setToken(id: string, tokenHash: Buffer): boolean {
    return this.#sql.setToken.run(tokenHash, id).changes === 1
  }
}

function toAccount(found: unknown): Account | null {
  if (found === undefined) return null
  const row = found as AccountRow
  return { id: row.id, name: row.name, plan: row.plan, status: row.status, createdAt: row.created_at }
}
