/**
 * Who reports this ledger to PostgreSQL, and which rows have changed since the last report.
 *
 * Each report has a number (`rev`), which grows. A row that changes is noted with the number of the report that will have it, so that PostgreSQL, which
 * keeps the number of the last whole report, tells by it what it lacks: also after a restore from an old copy. Notes are kept for two hours behind their
 * acknowledgement; a PostgreSQL that lacks more is sent everything.
 *
 * A data directory that was copied, or put back from a backup, holds what the node has reported or will report. It goes on under another id, and reports
 * of each row only what came since: `base_…` has the rest. So no charge is counted twice, whoever of two copies goes on as the node.
 */
import { randomUUID } from 'node:crypto'
import { inTransaction } from '../../transaction.ts'
import type { DatabaseSync } from '../../driver.ts'
import { hasHour, startOf, TRACKED, triggersOf } from './tracked.ts'

/** Notes that are dropped in one transaction, and milliseconds for which they are kept. */
const DROPPED_AT_ONCE = 500
const KEPT_MS = 2 * 3_600_000
/** Seconds behind a fork in which hours still change; of older ones nothing more is reported under the new id. */
const STILL_CHANGES = 2 * 86_400

/** The node as its own ledger knows it. */
export interface NodeRow {
  readonly id: string
  /** How often a process has begun to report as this node; 0 before the first. */
  readonly epoch: number
  /** The claim that may have been taken: its answer was not heard. */
  readonly claim: string | null
  /** The number of the next report. */
  readonly rev: number
  /** The last that was acknowledged. */
  readonly acked: number
  /** Notes up to this number have been dropped. */
  readonly kept: number
  /** Another process reports as this node. */
  readonly fenced: number
  /** Where it was forked from another node: hours before are that node's (Unix seconds). */
  readonly since: number | null
}

/** Usage of hours from `from` to `to` (Unix seconds, both inclusive), as the ledger has it: a part may have been reported before. */
export interface LateUsage {
  readonly requests: number
  readonly calls: number
  readonly from: number
  readonly to: number
}

/** Notes of changes in an open journal.db, by its only writer. */
export class LedgerChanges {
  readonly #database: DatabaseSync
  #node: NodeRow
  #hasStart = false
  /** Numbers of reports, and when they were made: what is old enough is dropped. */
  readonly #made: { readonly rev: number; readonly at: number }[] = []

  /** Begins to note changes. What is there already, noted or not, counts as changed where nobody noted it. */
  constructor(database: DatabaseSync) {
    this.#database = database
    inTransaction(database, () => {
      if (database.prepare('SELECT 1 FROM node').get() === undefined)
        database.prepare('INSERT INTO node VALUES (?, 0, NULL, 1, 0, 0, 0, NULL)').run(randomUUID())
      const missing = TRACKED.flatMap(triggersOf).filter(({ name }) => !isTracked(database, name))
      for (const { sql } of missing) database.exec(sql)
      if (missing.length > 0) this.#noteAll()
    })
    this.#node = this.#read()
  }

  get node(): NodeRow {
    return this.#node
  }

  /** The rows that were not acknowledged. */
  get waiting(): number {
    const { acked } = this.#node
    return TRACKED.reduce((sum, { table }) => {
      const sql = `SELECT count(*) AS count FROM changed_${table} WHERE rev > ?`
      return sum + (this.#database.prepare(sql).get(acked) as { count: number }).count
    }, 0)
  }

  /** Whether so many rows of hours were not acknowledged. */
  hasMany(rows: number): boolean {
    const sql = 'SELECT count(*) AS count FROM (SELECT 1 FROM changed_usage WHERE rev > ? LIMIT ?)'
    const { count } = this.#database.prepare(sql).get(this.#node.acked, rows) as { count: number }
    return count === rows
  }

  /** Whether any row was not. */
  get isWaiting(): boolean {
    const { acked } = this.#node
    return TRACKED.some(
      ({ table }) =>
        this.#database.prepare(`SELECT 1 FROM changed_${table} WHERE rev > ? LIMIT 1`).get(acked) !==
        undefined,
    )
  }

  /** Whether the next report has every row: what PostgreSQL has of this node beyond that is not in the ledger any more. */
  get isWhole(): boolean {
    return this.#node.acked === 0
  }

  /** Begins a report: returns its number. What changes from now on is of a later one. */
  begin(): number {
    const { rev } = this.#node
    this.#set('rev = rev + 1')
    this.#made.push({ rev, at: performance.now() })
    return rev
  }

  /** What report `rev` has of hours before `hour`; null where there is nothing, or everything was sent again. */
  lateFor(hour: number, rev: number): LateUsage | null {
    const sql = `SELECT sum(requests) AS requests, sum(calls) AS calls, min(hour) AS "from", max(hour) AS "to"
      FROM changed_usage AS c JOIN usage USING (endpoint, hour, method, network, plan) WHERE c.rev > ? AND c.rev <= ? AND hour < ?`
    if (this.isWhole || hour === 0) return null
    const late = this.#database.prepare(sql).get(this.#node.acked, rev, hour) as LateUsage | { from: null }
    return late.from === null ? null : late
  }

  acknowledge(rev: number): void {
    this.#set('acked = max(acked, ?)', rev)
  }

  /** PostgreSQL has reports up to `rev` only: what came since is sent again, or everything where it has none or that is no longer noted. */
  resend(rev: number): void {
    inTransaction(this.#database, () => {
      if (rev === 0 || rev < this.#node.kept) this.#noteAll()
      else this.#database.prepare('UPDATE node SET acked = ?').run(rev)
    })
    this.#node = this.#read()
  }

  /** What is about to be claimed, on disk before anybody hears of it. */
  claim(): string {
    const claim = randomUUID()
    this.#set('claim = ?', claim)
    return claim
  }

  claimed(epoch: number): void {
    this.#set('epoch = ?, claim = NULL', epoch)
    this.#forgetStart()
  }

  /** Remembers what rows hold now, from when they change, until the node is claimed: of a copy that is its start. */
  start(): void {
    this.#forgetStart()
    for (const tracked of TRACKED) for (const sql of startOf(tracked)) this.#database.exec(sql)
    this.#hasStart = true
  }

  /**
   * Another process reports as this node: what was here at the start counts as its, or what is here by now where the node had been claimed. What has
   * come since is for the next id.
   */
  fence(now: number): void {
    const since = Math.floor(now / 3_600_000) * 3600 - STILL_CHANGES
    inTransaction(this.#database, () => {
      for (const tracked of TRACKED) {
        const { table, key, sums } = tracked
        const columns = [...key, ...sums].join(', ')
        const where = hasHour(tracked) ? `WHERE hour >= ${since}` : ''
        this.#database.exec(`DELETE FROM base_${table};
          INSERT INTO base_${table} (${columns}) SELECT ${columns} FROM ${table} ${where}`)
        if (this.#hasStart)
          this.#database
            .exec(`INSERT OR REPLACE INTO base_${table} (${columns}) SELECT ${columns} FROM temp.start_${table};
            UPDATE changed_${table} SET rev = (SELECT rev + 1 FROM node) WHERE (${key.join(', ')}) IN (SELECT ${key.join(', ')} FROM temp.start_${table})`)
      }
      this.#database.prepare('UPDATE node SET fenced = 1, since = ?, acked = rev, rev = rev + 1').run(since)
    })
    this.#forgetStart()
    this.#node = this.#read()
  }

  /** Goes on as another node; only a fenced one does. */
  renew(): void {
    this.#set('id = ?, epoch = 0, claim = NULL, fenced = 0', randomUUID())
  }

  /** Drops some notes that are old and acknowledged; returns whether more may be left. */
  drop(): boolean {
    const before = performance.now() - KEPT_MS
    let upTo = 0
    while (this.#made[0] !== undefined && this.#made[0].at < before) upTo = this.#made.shift()!.rev
    upTo = Math.min(Math.max(upTo, this.#node.kept), this.#node.acked)
    if (upTo > this.#node.kept) this.#set('kept = ?', upTo)
    return TRACKED.some(({ table, key }) => {
      const columns = key.join(', ')
      const sql = `DELETE FROM changed_${table} WHERE (${columns}) IN (SELECT ${columns} FROM changed_${table} WHERE rev <= ? LIMIT ${DROPPED_AT_ONCE})`
      return this.#database.prepare(sql).run(upTo).changes === DROPPED_AT_ONCE
    })
  }

  #forgetStart(): void {
    if (!this.#hasStart) return
    for (const { table } of TRACKED)
      this.#database.exec(
        `DROP TRIGGER temp.start_${table}_insert; DROP TRIGGER temp.start_${table}_update; DROP TABLE temp.start_${table}`,
      )
    this.#hasStart = false
  }

  /** Every row is to be sent, in one report. */
  #noteAll(): void {
    this.#database.exec('UPDATE node SET acked = 0')
    for (const { table, key } of TRACKED) {
      const columns = key.join(', ')
      this.#database
        .exec(`INSERT INTO changed_${table} SELECT ${columns}, (SELECT rev FROM node) FROM ${table} WHERE true
        ON CONFLICT DO UPDATE SET rev = excluded.rev`)
    }
  }

  #set(change: string, ...values: (string | number)[]): void {
    this.#database.prepare(`UPDATE node SET ${change}`).run(...values)
    this.#node = this.#read()
  }

  #read(): NodeRow {
    return this.#database.prepare('SELECT * FROM node').get() as NodeRow
  }
}

/** Ends noting changes: usage is kept here alone. Everything is sent once somebody notes them again. */
export function stopTracking(database: DatabaseSync): void {
  for (const { name } of TRACKED.flatMap(triggersOf))
    if (isTracked(database, name)) database.exec(`DROP TRIGGER ${name}`)
}

/** Whether every row is still to be sent: until then no hour may become a day, whose row nobody would have noted. */
export function isWholeReportDue(database: DatabaseSync): boolean {
  const [{ name } = { name: '' }] = triggersOf(TRACKED[0]!)
  return (
    isTracked(database, name) && database.prepare('SELECT 1 FROM node WHERE acked = 0').get() !== undefined
  )
}

function isTracked(database: DatabaseSync, trigger: string): boolean {
  const sql = "SELECT 1 FROM sqlite_schema WHERE type = 'trigger' AND name = ?"
  return database.prepare(sql).get(trigger) !== undefined
}
