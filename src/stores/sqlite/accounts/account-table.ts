import type { DatabaseSync } from '../driver.ts'
import type { AccountQuery, AccountRecord, AccountStatus } from '../../../ports/accounts.ts'

interface AccountRow {
  readonly id: string
  readonly name: string
  readonly plan: string
  readonly status: AccountStatus
  readonly created_at: number
  readonly external_id: string | null
  readonly email: string | null
  readonly labels: string | null
}

const COLUMNS = 'id, name, plan, status, created_at, external_id, email, labels'

/** The statements on table `account`. Writes belong in a transaction; the holder keeps the database referenced. */
export class AccountTable {
  readonly #sql

  constructor(database: DatabaseSync) {
    this.#sql = {
      byId: database.prepare(`SELECT ${COLUMNS} FROM account WHERE id = ? AND purged_at IS NULL`),
      byToken: database.prepare(`SELECT ${COLUMNS} FROM account WHERE token_hash = ?`),
      tokenHash: database.prepare('SELECT token_hash FROM account WHERE id = ?'),
      all: database.prepare(`SELECT ${COLUMNS} FROM account WHERE purged_at IS NULL ORDER BY seq`),
      page: database.prepare(`
        SELECT ${COLUMNS} FROM account
        WHERE purged_at IS NULL AND (?1 IS NULL OR seq > (SELECT seq FROM account WHERE id = ?1))
          AND (?2 IS NULL OR plan = ?2) AND (?3 IS NULL OR status = ?3) AND (?4 IS NULL OR external_id = ?4)
          AND (?5 IS NULL OR email = ?5)
          AND (?6 IS NULL OR EXISTS (SELECT 1 FROM json_each(labels) WHERE key = ?6 AND value = ?7))
        ORDER BY seq LIMIT ?8`),
      byExternalId: database.prepare('SELECT id FROM account WHERE external_id = ?'),
      named: database.prepare('SELECT id FROM account WHERE name = ? AND purged_at IS NULL ORDER BY seq'),
      // Jumps from plan to plan along the index; DISTINCT would walk every account.
      plans: database.prepare(`
        WITH RECURSIVE used (plan) AS (
          SELECT min(plan) FROM account WHERE plan > ''
          UNION ALL
          SELECT (SELECT min(plan) FROM account WHERE plan > used.plan) FROM used WHERE used.plan IS NOT NULL
        )
        SELECT plan FROM used WHERE plan IS NOT NULL`),
      withPlan: database.prepare('SELECT id FROM account WHERE plan = ? ORDER BY seq LIMIT ?'),
      countOfPlan: database.prepare('SELECT count(*) AS accounts FROM account WHERE plan = ?'),
      insert: database.prepare(`
        INSERT INTO account (id, name, plan, status, created_at, external_id, email, labels, token_hash)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`),
      update: database.prepare(`
        UPDATE account SET name = ?, plan = ?, status = ?, external_id = ?, email = ?, labels = ? WHERE id = ?`),
      // Of a purged account only its usage knows: under no plan, so that none is kept for it.
      purge: database.prepare(`
        UPDATE account SET name = '', plan = '', status = 'suspended', external_id = NULL, email = NULL,
          labels = NULL, token_hash = randomblob(32), purged_at = ? WHERE id = ?`),
      endWebhook: database.prepare('DELETE FROM webhook WHERE account_id = ?'),
      endDeliveries: database.prepare('DELETE FROM delivery WHERE target = ?'),
      endReceiver: database.prepare('DELETE FROM receiver WHERE target = ?'),
      endSessions: database.prepare('DELETE FROM session WHERE account_id = ?'),
      setToken: database.prepare('UPDATE account SET token_hash = ? WHERE id = ?'),
    }
  }

  find(id: string): AccountRecord | null {
    return toAccount(this.#sql.byId.get(id))
  }

  findByToken(tokenHash: Buffer): AccountRecord | null {
    return toAccount(this.#sql.byToken.get(tokenHash))
  }

  /** In hex. */
  tokenHash(id: string): string | null {
    const row = this.#sql.tokenHash.get(id) as { token_hash: Uint8Array } | undefined
    return row === undefined ? null : Buffer.from(row.token_hash).toString('hex')
  }

  all(): AccountRecord[] {
    return (this.#sql.all.all() as AccountRow[]).map(row => toAccount(row)!)
  }

  page({ after, limit, plan, status, externalId, email, label }: AccountQuery): AccountRecord[] {
    const [name, value] = label ?? [null, null]
    const rows = this.#sql.page.all(after, plan, status, externalId, email, name, value, limit)
    return (rows as AccountRow[]).map(row => toAccount(row)!)
  }

  /** The account of that external id. */
  withExternalId(externalId: string): string | null {
    return (this.#sql.byExternalId.get(externalId) as { id: string } | undefined)?.id ?? null
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

  insert(account: AccountRecord, tokenHash: Buffer): void {
    const { id, name, plan, status, createdAt, externalId, email, labels } = account
    this.#sql.insert.run(id, name, plan, status, createdAt, externalId, email, toColumn(labels), tokenHash)
  }

  update({ id, name, plan, status, externalId, email, labels }: AccountRecord): void {
    this.#sql.update.run(name, plan, status, externalId, email, toColumn(labels), id)
  }

  /** Leaves the row, so that its usage stays somebody's, and nothing that says whose. */
  purge(id: string, at: number): void {
    this.#sql.purge.run(at, id)
    this.#sql.endSessions.run(id)
    this.#sql.endWebhook.run(id)
    this.#sql.endDeliveries.run(id)
    this.#sql.endReceiver.run(id)
  }

  /** False when there is no such account. */
  setToken(id: string, tokenHash: Buffer): boolean {
    return this.#sql.setToken.run(tokenHash, id).changes === 1
  }
}

function toAccount(found: unknown): AccountRecord | null {
  if (found === undefined) return null
  const row = found as AccountRow
  const labels = row.labels === null ? {} : (JSON.parse(row.labels) as AccountRecord['labels'])
  const { id, name, plan, status, email } = row
  return { id, name, plan, status, createdAt: row.created_at, externalId: row.external_id, email, labels }
}

function toColumn(labels: AccountRecord['labels']): string | null {
  return Object.keys(labels).length === 0 ? null : JSON.stringify(labels)
}
