/**
 * Days beside the hours, so that a long span is summed from one row where there are 24. A day that is over is made of its hours once, endpoint by
 * endpoint, by the thread that writes, between calls; `day_progress` says how far that is, in the same transaction. What comes to an hour behind it, as
 * the journal of a killed process may bring, is added to its day too (fold.ts), so that a day always is the sum of its hours. Hours that become days
 * (roll-up.ts) stay what they come to. A ledger of before, or a new one, has no days yet: they are made like any other, however many.
 */
import type { DatabaseSync, StatementSync } from '../driver.ts'
import { STEP } from '../../../ports/ledger.ts'
import { inTransaction } from '../transaction.ts'
import { ROLLED } from './roll-up.ts'

/** The tables that have days: a day is a row under its first hour. Plans are for bills, which are made of hours. */
const SUMMED = ROLLED.map(({ table, key, sums }) => ({
  table,
  key: key.filter(name => name !== 'plan'),
  sums,
}))

/** Before which hour an endpoint's hours are in its days, in SQL, where `day_progress` is read. */
export const daysUntil = (
  endpoint: string,
): string => `CASE WHEN ${endpoint} < day_progress.endpoint THEN day_progress.next
  WHEN ${endpoint} = day_progress.endpoint THEN day_progress.at ELSE day_progress.until END`

/** Before `until` all hours are in days, and those before `next` of the endpoints before `endpoint`; of itself those before `at`. */
interface Progress {
  readonly until: number
  readonly next: number
  readonly endpoint: string
  readonly at: number
}

/** Makes days, in an open journal.db, by its only writer. */
export class Days {
  readonly #database: DatabaseSync
  readonly #progress: StatementSync
  readonly #advance: StatementSync
  readonly #nextEndpoint: StatementSync
  readonly #nextHour: StatementSync
  readonly #make: readonly StatementSync[]

  constructor(database: DatabaseSync) {
    this.#database = database
    this.#progress = database.prepare('SELECT * FROM day_progress')
    this.#advance = database.prepare('UPDATE day_progress SET until = ?, next = ?, endpoint = ?, at = ?')
    this.#nextEndpoint = database.prepare('SELECT min(endpoint) AS endpoint FROM totals WHERE endpoint > ?')
    const first = SUMMED.map(
      ({ table }) =>
        `SELECT min(hour) AS hour FROM ${table} WHERE endpoint = ?1 AND hour >= ?2 AND hour < ?3`,
    )
    this.#nextHour = database.prepare(`SELECT min(hour) AS hour FROM (${first.join(' UNION ALL ')})`)
    this.#make = SUMMED.map(({ table, key, sums }) => {
      const values = [...key.map(name => (name === 'hour' ? '?2' : name)), ...sums.map(sum => `sum(${sum})`)]
      const by = key.filter(name => name !== 'endpoint' && name !== 'hour')
      return database.prepare(`INSERT OR REPLACE INTO ${table}_day (${[...key, ...sums].join(', ')})
        SELECT ${values.join(', ')} FROM ${table}
        WHERE endpoint = ?1 AND hour >= ?2 AND hour < ?2 + ${STEP.day} GROUP BY ${by.join(', ')}`)
    })
  }

  /** Makes some of the days that were over at `now` (milliseconds), for about `ms` milliseconds. Returns whether any are left. */
  make(now: number, ms = Infinity): boolean {
    const today = Math.floor(now / 1000 / STEP.day) * STEP.day
    const known = this.#progress.get() as unknown as Progress
    const isNew = known.next === known.until
    if (isNew && today <= known.until) return false
    const end = performance.now() + ms
    let progress = isNew ? this.#nextOf({ ...known, next: today, endpoint: '' }) : known
    inTransaction(this.#database, () => {
      do progress = this.#makeDay(progress)
      while (progress.next !== progress.until && performance.now() < end)
      const { until, next, endpoint, at } = progress
      this.#advance.run(until, next, endpoint, at)
    })
    return progress.next !== progress.until || progress.until < today
  }

  /** Makes the next day of the endpoint whose turn it is, or goes on to the next endpoint. */
  #makeDay(progress: Progress): Progress {
    const { next, endpoint, at } = progress
    const { hour } = this.#nextHour.get(endpoint, at, next) as { readonly hour: number | null }
    if (hour === null) return this.#nextOf(progress)
    const day = hour - (hour % STEP.day)
    for (const statement of this.#make) statement.run(endpoint, day)
    return { ...progress, at: day + STEP.day }
  }

  #nextOf(progress: Progress): Progress {
    const { endpoint } = this.#nextEndpoint.get(progress.endpoint) as { readonly endpoint: string | null }
    if (endpoint !== null) return { ...progress, endpoint, at: progress.until }
    return { until: progress.next, next: progress.next, endpoint: '', at: progress.next }
  }
}
