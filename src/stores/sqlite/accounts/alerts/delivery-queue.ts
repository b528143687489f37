import type { AlertEvent } from '../../../../config/alerts.ts'
import { OPERATORS } from '../../../../ports/alerts.ts'
import type { Delivery, Lane, Outcome } from '../../../../ports/alerts.ts'
import type { DatabaseSync } from '../../driver.ts'
import { randomBase62 } from '../secrets/base62.ts'

/** Messages that wait for the operator's webhook at most, and how many more where they are urgent. */
const MOST_OF_OPERATOR = 10_000
const MORE_URGENT = 1_000
/** How many of them may be about one account and not urgent: nobody fills the queue alone. */
const MOST_ABOUT_ACCOUNT = 100
/** The same for the webhook of an account, and for those of all accounts. */
const MOST_OF_ACCOUNT = 1_000
const MOST_OF_ACCOUNTS = 100_000
/** What an account may have waiting once those of all have half of their room. */
const FEW = 10

/** What does not wait behind events that an owner can cause by the hundred. */
const URGENT: readonly AlertEvent[] = ['network.down', 'network.up', 'quota.threshold']
/** As column `rank` has it. */
const RANKS = [0, 1] as const

/** Milliseconds for which a webhook is left alone after one failure, doubled by each further one in a row, and the most. */
const PAUSE = 1_000
const LONGEST_PAUSE = 60_000

/** A message before it has an id. */
export interface NewMessage {
  readonly target: string
  readonly type: AlertEvent
  /** Whom it is about; null where it is nobody. */
  readonly accountId: string | null
  readonly body: string
}

/** The statements on tables `delivery`, `receiver` and `queue`. Writes belong in a transaction; the holder keeps the database referenced. */
export class DeliveryQueue {
  readonly #sql

  constructor(database: DatabaseSync) {
    this.#sql = {
      all: database.prepare('SELECT waiting FROM queue'),
      receiver: database.prepare('SELECT waiting, failures FROM receiver WHERE target = ?'),
      about: database.prepare(`
        SELECT count(*) AS waiting FROM delivery WHERE account_id = ? AND target = '${OPERATORS}' AND rank = 1`),
      addReceiver: database.prepare(`
        INSERT OR IGNORE INTO receiver (target, lane, waiting, failures, not_before, due_at)
        VALUES (?, ?, 0, 0, 0, NULL)`),
      insert: database.prepare(`
        INSERT INTO delivery (id, target, type, account_id, body, rank, attempts, next_at)
        VALUES (?, ?, ?, ?, ?, ?, 0, ?)`),
      // A clock that was set back must not keep a webhook waiting longer than a pause.
      wake: database.prepare(`
        UPDATE receiver SET due_at = min(coalesce(due_at, ?2 + ${LONGEST_PAUSE}), max(?2, min(not_before, ?2 + ${LONGEST_PAUSE})))
        WHERE target = ?1`),
      receivers: database.prepare(`
        SELECT target FROM receiver WHERE lane = ? AND due_at <= ? ORDER BY due_at LIMIT ?`),
      due: database.prepare(`
        SELECT id, target, type, body, attempts FROM delivery
        WHERE target = ? AND rank = ? AND next_at <= ? ORDER BY next_at, seq LIMIT ?`),
      remove: database.prepare('DELETE FROM delivery WHERE id = ?'),
      postpone: database.prepare('UPDATE delivery SET attempts = attempts + 1, next_at = ? WHERE id = ?'),
      // Behind all others that are due: they take turns.
      settle: database.prepare(`
        UPDATE receiver SET lane = ?2, failures = ?3, not_before = ?4, due_at = max(?4, 1000 * (
          SELECT min(next_at) FROM (
            SELECT min(next_at) AS next_at FROM delivery WHERE target = ?1 AND rank = 0
            UNION ALL SELECT min(next_at) FROM delivery WHERE target = ?1 AND rank = 1)))
        WHERE target = ?1`),
      cancel: database.prepare('DELETE FROM delivery WHERE target = ?'),
      forget: database.prepare('DELETE FROM receiver WHERE target = ?'),
    }
  }

  /** Keeps a message; false where too many wait already. Unix seconds. */
  add({ target, type, accountId, body }: NewMessage, now: number): boolean {
    const isUrgent = URGENT.includes(type)
    if (!this.#hasRoom(target, accountId, isUrgent)) return false
    this.#sql.addReceiver.run(target, target === OPERATORS ? 'operator' : 'accounts')
    this.#sql.insert.run(`msg_${randomBase62(20)}`, target, type, accountId, body, isUrgent ? 0 : 1, now)
    this.#sql.wake.run(target, now * 1000)
    return true
  }

  receivers(lane: Lane, now: number, most: number): string[] {
    return (this.#sql.receivers.all(lane, now, most) as { target: string }[]).map(({ target }) => target)
  }

  due(target: string, now: number, most: number): Delivery[] {
    const found: Delivery[] = []
    for (const rank of RANKS)
      if (found.length < most)
        found.push(...(this.#sql.due.all(target, rank, now, most - found.length) as Delivery[]))
    return found
  }

  /** Unix milliseconds. */
  settle({ id, target, isTaken, isSlow, nextAt }: Outcome, now: number): void {
    const { changes } = nextAt === null ? this.#sql.remove.run(id) : this.#sql.postpone.run(nextAt, id)
    const receiver = this.#sql.receiver.get(target) as { failures: number } | undefined
    // The webhook is another one by now, or nobody's.
    if (changes === 0 || receiver === undefined) return
    const failures = isTaken ? 0 : receiver.failures + 1
    const pause = isTaken ? 0 : Math.min(LONGEST_PAUSE, PAUSE * 2 ** (failures - 1))
    const lane: Lane = target === OPERATORS ? 'operator' : isTaken && !isSlow ? 'accounts' : 'suspects'
    this.#sql.settle.run(target, lane, failures, now + pause)
  }

  cancel(target: string): void {
    this.#sql.cancel.run(target)
    this.#sql.forget.run(target)
  }

  waiting(): { readonly operator: number; readonly accounts: number } {
    return { operator: this.#waitingFor(OPERATORS), accounts: this.#waitingForAccounts() }
  }

  #hasRoom(target: string, accountId: string | null, isUrgent: boolean): boolean {
    const waiting = this.#waitingFor(target)
    if (target !== OPERATORS) {
      const all = this.#waitingForAccounts()
      return all < MOST_OF_ACCOUNTS && waiting < (all < MOST_OF_ACCOUNTS / 2 ? MOST_OF_ACCOUNT : FEW)
    }
    if (isUrgent) return waiting < MOST_OF_OPERATOR + MORE_URGENT
    const { waiting: about } = this.#sql.about.get(accountId) as { waiting: number }
    return waiting < MOST_OF_OPERATOR && about < MOST_ABOUT_ACCOUNT
  }

  #waitingFor(target: string): number {
    return (this.#sql.receiver.get(target) as { waiting: number } | undefined)?.waiting ?? 0
  }

  #waitingForAccounts(): number {
    return (this.#sql.all.get() as { waiting: number }).waiting
  }
}
