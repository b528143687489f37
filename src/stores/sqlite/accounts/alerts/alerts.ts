/** The port Alerts on accounts.db. */
import { randomBytes } from 'node:crypto'
import type { AlertEvent } from '../../../../config/alerts.ts'
import { OPERATORS, shownWebhook, TRAIL_EVENTS } from '../../../../ports/alerts.ts'
import type { Alert, Alerts, Delivery, Lane, Outcome, Webhook } from '../../../../ports/alerts.ts'
import { actorForOwner, OPERATOR, refuseUnprintable } from '../../../../ports/audit.ts'
import type { Author } from '../../../../ports/audit.ts'
import type { DatabaseSync } from '../../driver.ts'
import type { Changes } from '../changes.ts'
import { DeliveryQueue } from './delivery-queue.ts'
import type { KeyRing } from '../secrets/key-ring.ts'
import type { Transactions } from '../transactions.ts'

/** Seconds for which it is known what was raised once: longer than any quota window of a plan that is sold. */
const RAISED_KEPT = 400 * 86_400
/** Entries of the audit trail that are read in one transaction. */
const ENTRIES = 500
const SECRET_BYTES = 32

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
  readonly #queue: DeliveryQueue
  readonly #sql

  constructor(database: DatabaseSync, parts: Parts) {
    this.#parts = parts
    this.#queue = new DeliveryQueue(database)
    this.#sql = {
      wasRaised: database.prepare('SELECT 1 FROM raised WHERE name = ?'),
      once: database.prepare('INSERT OR IGNORE INTO raised VALUES (?, ?)'),
      forget: database.prepare('DELETE FROM raised WHERE at < ?'),
      last: database.prepare('SELECT coalesce(max(seq), 0) AS seq FROM audit'),
      read: database.prepare('SELECT seq FROM trail'),
      entries: database.prepare(`
        SELECT seq, actor, action, target, account_id, after FROM audit WHERE seq > ? ORDER BY seq LIMIT ${ENTRIES}`),
      setRead: database.prepare('UPDATE trail SET seq = ?'),
      account: database.prepare('SELECT name, plan FROM account WHERE id = ?'),
      webhook: database.prepare('SELECT url, sealed_secret FROM webhook WHERE account_id = ?'),
      hasWebhook: database.prepare('SELECT 1 FROM webhook WHERE account_id = ?'),
      setWebhook: database.prepare(
        'INSERT OR REPLACE INTO webhook SELECT ?1, ?2, ?3 FROM account WHERE id = ?1 AND purged_at IS NULL',
      ),
      removeWebhook: database.prepare('DELETE FROM webhook WHERE account_id = ?'),
    }
  }

  raise(alert: Alert, toOperator: boolean, once?: string): Promise<readonly string[]> {
    const { transactions, now } = this.#parts
    return transactions.run(() => {
      if (once === undefined) return this.#keep(alert, this.#targets(alert, toOperator))
      this.#sql.forget.run(now() - RAISED_KEPT)
      if (this.#wasRaised(once)) return []
      const targets = this.#targets(alert, toOperator)
      const missing = targets.filter(target => !this.#wasRaised(`${once} ${target}`))
      const full = this.#keep(alert, missing)
      const told = full.length === 0 ? [] : missing.filter(target => !full.includes(target))
      for (const name of full.length === 0 ? [once] : told.map(target => `${once} ${target}`))
        this.#sql.once.run(name, now())
      return full
    })
  }

  async readTrail(toOperator: readonly AlertEvent[]): Promise<readonly string[]> {
    const full: string[] = []
    // Mostly there is nothing, and looking costs no write.
    while (this.#seqOf(this.#sql.last) > this.#seqOf(this.#sql.read)) {
      const some = await this.#parts.transactions.run(() => {
        const entries = this.#sql.entries.all(this.#seqOf(this.#sql.read)) as readonly Entry[]
        // Entries that were removed as old are passed over.
        this.#sql.setRead.run(entries.at(-1)?.seq ?? this.#seqOf(this.#sql.last))
        return entries
          .filter(({ action }) => TRAIL_EVENTS.includes(action))
          .map(entry => this.#alertOf(entry))
          .flatMap(alert => this.#keep(alert, this.#targets(alert, toOperator.includes(alert.type))))
      })
      full.push(...some)
    }
    return full
  }

  receivers(lane: Lane, now: number, most: number): string[] {
    return this.#queue.receivers(lane, now, most)
  }

  due(target: string, now: number, most: number): Delivery[] {
    return this.#queue.due(target, now, most)
  }

  settle(outcomes: readonly Outcome[], now: number): Promise<void> {
    return this.#parts.transactions.run(() => {
      for (const outcome of outcomes) this.#queue.settle(outcome, now)
    })
  }

  waiting(): ReturnType<DeliveryQueue['waiting']> {
    return this.#queue.waiting()
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
      // Its entry in the audit trail does not show all of it.
      refuseUnprintable(url, null, 'webhook')
      const had = this.#sql.webhook.get(accountId) as { url: string } | undefined
      this.#queue.cancel(accountId)
      const secret = `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`
      if (url === null) this.#sql.removeWebhook.run(accountId)
      // The account may have been purged a moment ago.
      else if (this.#sql.setWebhook.run(accountId, url, ring.seal(accountId, secret)).changes === 0)
        return null
      if (had !== undefined || url !== null)
        change.note({
          action: 'webhook.changed',
          target: accountId,
          accountId,
          before: { webhook: had === undefined ? null : shownWebhook(had.url) },
          after: { webhook: url === null ? null : shownWebhook(url) },
        })
      return url === null ? null : { url, secret }
    }, by)
  }

  #targets({ accountId }: Alert, toOperator: boolean): string[] {
    const hasWebhook = accountId !== null && this.#sql.hasWebhook.get(accountId) !== undefined
    return [...(toOperator ? [OPERATORS] : []), ...(hasWebhook ? [accountId] : [])]
  }

  /** Those for which it is not kept. */
  #keep({ type, accountId, data, actor }: Alert, targets: readonly string[]): string[] {
    const { now } = this.#parts
    const timestamp = new Date(now() * 1000).toISOString()
    const bodyFor = (target: string): string => {
      const by = actor === undefined || target === OPERATORS ? actor : actorForOwner(actor)
      return JSON.stringify({ type, timestamp, data: { ...data, actor: by } })
    }
    return targets.filter(
      target => !this.#queue.add({ target, type, accountId, body: bodyFor(target) }, now()),
    )
  }

  #wasRaised(name: string): boolean {
    return this.#sql.wasRaised.get(name) !== undefined
  }

  #alertOf({ actor, action, target, account_id: accountId, after }: Entry): Alert {
    const account = this.#sql.account.get(accountId) as { name: string; plan: string } | undefined
    const more = after === null ? {} : (JSON.parse(after) as object)
    const of = target === accountId ? {} : { endpointId: target }
    return { type: action, accountId, data: { accountId, ...account, ...of, ...more }, actor }
  }

  #seqOf(statement: { get(): unknown }): number {
    return (statement.get() as { seq: number }).seq
  }
}
