/** The port Alerts on accounts.db. */
import { randomBytes } from 'node:crypto'
import type { AlertEvent } from '../../../config/alerts.ts'
import { OPERATORS, shownWebhook } from '../../../ports/alerts.ts'
import type { Alert, Alerts, Delivery, Webhook } from '../../../ports/alerts.ts'
import { OPERATOR } from '../../../ports/audit.ts'
import type { Author } from '../../../ports/audit.ts'
import type { DatabaseSync } from '../driver.ts'
import type { Changes } from './changes.ts'
import { randomBase62 } from './secrets/base62.ts'
import type { KeyRing } from './secrets/key-ring.ts'
import type { Transactions } from './transactions.ts'

/** Messages that wait for one webhook at most: a dead one fills no disk. */
const MOST_WAITING = 1_000
/** Seconds for which it is known what was raised once: longer than any quota window of a plan that is sold. */
const RAISED_KEPT = 400 * 86_400
/** Entries of the audit trail that are read in one transaction. */
const ENTRIES = 500
const SECRET_BYTES = 32

/** Entries that are events. */
const FROM_TRAIL: readonly AlertEvent[] = ['account.suspended', 'key.rotated']

interface Entry {
  readonly seq: number
  readonly actor: string
  readonly action: AlertEvent
  readonly target: string
  readonly account_id: string | null
  readonly after: string | null
}

interface Parts {
  readonly transactions: Transactions
  readonly changes: Changes
  readonly ring: KeyRing
  readonly now: () => number
}

/** What is told to webhooks, in the file of the accounts that it is about. The holder keeps the database referenced. */
export class SqliteAlerts implements Alerts {
  readonly #parts: Parts
  readonly #sql

  constructor(database: DatabaseSync, parts: Parts) {
    this.#parts = parts
    this.#sql = {
      once: database.prepare('INSERT OR IGNORE INTO raised VALUES (?, ?)'),
      forget: database.prepare('DELETE FROM raised WHERE at < ?'),
      waiting: database.prepare('SELECT count(*) AS count FROM delivery WHERE target = ?'),
      insert: database.prepare(
        'INSERT INTO delivery (id, target, type, body, attempts, next_at) VALUES (?, ?, ?, ?, 0, ?)',
      ),
      // One that waits for its next attempt holds up no other. The columns of a group are those of its smallest place.
      due: database.prepare(`
        SELECT id, target, type, body, attempts FROM (
          SELECT min(seq), id, target, type, body, attempts, next_at FROM delivery WHERE next_at <= ? GROUP BY target
        ) ORDER BY next_at LIMIT ?`),
      delivered: database.prepare('DELETE FROM delivery WHERE id = ?'),
      failed: database.prepare('UPDATE delivery SET attempts = attempts + 1, next_at = ? WHERE id = ?'),
      last: database.prepare('SELECT coalesce(max(seq), 0) AS seq FROM audit'),
      read: database.prepare('SELECT seq FROM trail'),
      entries: database.prepare(`
        SELECT seq, actor, action, target, account_id, after FROM audit WHERE seq > ? ORDER BY seq LIMIT ${ENTRIES}`),
      setRead: database.prepare('UPDATE trail SET seq = ?'),
      account: database.prepare('SELECT name, plan FROM account WHERE id = ?'),
      webhook: database.prepare('SELECT url, sealed_secret FROM webhook WHERE account_id = ?'),
      hasWebhook: database.prepare('SELECT 1 FROM webhook WHERE account_id = ?'),
      setWebhook: database.prepare('INSERT OR REPLACE INTO webhook VALUES (?, ?, ?)'),
      removeWebhook: database.prepare('DELETE FROM webhook WHERE account_id = ?'),
      cancel: database.prepare('DELETE FROM delivery WHERE target = ?'),
    }
  }

  raise(alert: Alert, toOperator: boolean, once?: string): Promise<boolean> {
    const { transactions, now } = this.#parts
    return transactions.run(() => {
      if (once !== undefined) {
        this.#sql.forget.run(now() - RAISED_KEPT)
        if (this.#sql.once.run(once, now()).changes === 0) return false
      }
      this.#insert(alert, toOperator)
      return true
    })
  }

  async readTrail(toOperator: readonly AlertEvent[]): Promise<void> {
    // Mostly there is nothing, and looking costs no write.
    while (this.#seqOf(this.#sql.last) > this.#seqOf(this.#sql.read))
      await this.#parts.transactions.run(() => {
        const entries = this.#sql.entries.all(this.#seqOf(this.#sql.read)) as readonly Entry[]
        for (const entry of entries)
          if (FROM_TRAIL.includes(entry.action))
            this.#insert(this.#alertOf(entry), toOperator.includes(entry.action))
        // Entries that were removed as old are passed over.
        this.#sql.setRead.run(entries.at(-1)?.seq ?? this.#seqOf(this.#sql.last))
      })
  }

  due(now: number, most: number): Delivery[] {
    return this.#sql.due.all(now, most) as Delivery[]
  }

  delivered(id: string): Promise<void> {
    return this.#parts.transactions.run(() => {
      this.#sql.delivered.run(id)
    })
  }

  failed(id: string, nextAt: number): Promise<void> {
    return this.#parts.transactions.run(() => {
      this.#sql.failed.run(nextAt, id)
    })
  }

  webhook(accountId: string): Webhook | null {
    const row = this.#sql.webhook.get(accountId) as { url: string; sealed_secret: Uint8Array } | undefined
    return row === undefined
      ? null
      : { url: row.url, secret: this.#parts.ring.open(accountId, row.sealed_secret) }
  }

  setWebhook(accountId: string, url: string | null, by: Author = OPERATOR): Promise<Webhook | null> {
    const { changes, ring } = this.#parts
    return changes.write(change => {
      const had = this.#sql.webhook.get(accountId) as { url: string } | undefined
      this.#sql.cancel.run(accountId)
      const secret = `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`
      if (url === null) this.#sql.removeWebhook.run(accountId)
      else this.#sql.setWebhook.run(accountId, url, ring.seal(accountId, secret))
      if (had !== undefined || url !== null)
        change.note({
          ...{ action: 'webhook.changed', target: accountId, accountId },
          before: { webhook: had === undefined ? null : shownWebhook(had.url) },
          after: { webhook: url === null ? null : shownWebhook(url) },
        })
      return url === null ? null : { url, secret }
    }, by)
  }

  #insert({ type, accountId, data }: Alert, toOperator: boolean): void {
    const { now } = this.#parts
    const body = JSON.stringify({ type, timestamp: new Date(now() * 1000).toISOString(), data })
    const owners = accountId !== null && this.#sql.hasWebhook.get(accountId) !== undefined ? [accountId] : []
    for (const target of [...(toOperator ? [OPERATORS] : []), ...owners]) {
      const { count } = this.#sql.waiting.get(target) as { count: number }
      if (count < MOST_WAITING) this.#sql.insert.run(`msg_${randomBase62(20)}`, target, type, body, now())
    }
  }

  #alertOf({ actor, action, target, account_id: accountId, after }: Entry): Alert {
    const account = this.#sql.account.get(accountId) as { name: string; plan: string } | undefined
    const more = after === null ? {} : (JSON.parse(after) as object)
    const of = target === accountId ? {} : { endpointId: target }
    return { type: action, accountId, data: { accountId, ...account, ...of, ...more, actor } }
  }

  #seqOf(statement: { get(): unknown }): number {
    return (statement.get() as { seq: number }).seq
  }
}
