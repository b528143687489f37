import type { DatabaseSync } from '../driver.ts'
import type {
  Action,
  Actor,
  Audit,
  AuditEntry,
  AuditQuery,
  Happening,
  Members,
} from '../../../ports/audit.ts'
import type { Transactions } from './transactions.ts'

interface Row {
  readonly seq: number
  readonly at: number
  readonly actor: string
  readonly action: string
  readonly target: string
  readonly account_id: string | null
  readonly before: string | null
  readonly after: string | null
}

/** The statements on table `audit`. Writes belong in a transaction; the holder keeps the database referenced. */
export class AuditTable {
  readonly #sql

  constructor(database: DatabaseSync) {
    this.#sql = {
      insert: database.prepare(`
        INSERT INTO audit (at, actor, action, target, account_id, before, after) VALUES (?, ?, ?, ?, ?, ?, ?)`),
      // An account is found by its own entries and by those of what it has.
      read: database.prepare(`
        SELECT seq, at, actor, action, target, account_id, before, after FROM audit
        WHERE (?1 IS NULL OR at >= ?1) AND (?2 IS NULL OR at < ?2) AND (?3 IS NULL OR actor = ?3)
          AND (?4 IS NULL OR target = ?4 OR account_id = ?4) AND (?5 IS NULL OR seq < ?5)
        ORDER BY seq DESC LIMIT ?6`),
      forget: database.prepare('DELETE FROM audit WHERE at < ?'),
      blank: database.prepare('UPDATE audit SET before = NULL, after = NULL WHERE account_id = ?'),
    }
  }

  insert(at: number, actor: Actor, { action, target, accountId, before, after }: Happening): void {
    this.#sql.insert.run(at, actor, action, target, accountId, toJson(before), toJson(after))
  }

  read({ from, to, actor, target, before, limit }: AuditQuery): AuditEntry[] {
    return (this.#sql.read.all(from, to, actor, target, before, limit) as Row[]).map(toEntry)
  }

  forget(before: number): void {
    this.#sql.forget.run(before)
  }

  /** Leaves of an account's entries that they happened, and nothing of what was in them. */
  blank(accountId: string): void {
    this.#sql.blank.run(accountId)
  }
}

/** The port Audit on accounts.db. */
export class SqliteAudit implements Audit {
  readonly #table: AuditTable
  readonly #transactions: Transactions
  readonly #now: () => number

  constructor(table: AuditTable, transactions: Transactions, now: () => number) {
    this.#table = table
    this.#transactions = transactions
    this.#now = now
  }

  record(happening: Happening, actor: Actor): Promise<void> {
    return this.#transactions.run(() => {
      this.#table.insert(this.#now(), actor, happening)
    })
  }

  read(query: AuditQuery): AuditEntry[] {
    return this.#table.read(query)
  }

  forget(before: number): Promise<void> {
    return this.#transactions.run(() => {
      this.#table.forget(before)
    })
  }
}

function toEntry(row: Row): AuditEntry {
  const { seq, at, actor, target, account_id: accountId } = row
  const [before, after] = [fromJson(row.before), fromJson(row.after)]
  return { seq, at, actor, action: row.action as Action, target, accountId, before, after }
}

function toJson(members: Members | null): string | null {
  return members === null ? null : JSON.stringify(members)
}

function fromJson(text: string | null): Members | null {
  return text === null ? null : (JSON.parse(text) as Members)
}
