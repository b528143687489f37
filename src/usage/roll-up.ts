/** Hours become days when they are old: a bill of last year needs no hours, and the file stays small. */
import type { DatabaseSyncInstance } from '@photostructure/sqlite'
import { inTransaction } from '../sqlite/transaction.ts'

/** Days for which hours are kept (design, "Metering"). */
const KEPT_DAYS = 90
const DAY = 86_400
/** Rows of a table that are rolled up at a time: a few milliseconds. */
const AT_A_TIME = 500

/** A table with a row per hour. One whose hour is a multiple of a day takes the others of its day. */
interface Rolled {
  readonly table: string
  readonly key: readonly string[]
  readonly names: readonly string[]
  readonly sums: readonly string[]
}

const ROLLED: readonly Rolled[] = [
  {
    table: 'usage',
    key: ['endpoint', 'hour', 'method'],
    names: ['account', 'network'],
    sums: ['calls', 'requests', 'errors', 'refusals', 'bytes_out', 'upstream_ms'],
  },
  {
    table: 'refusals',
    key: ['endpoint', 'hour', 'method', 'reason'],
    names: ['account', 'network'],
    sums: ['count'],
  },
]

/**
 * Adds some of the hours that began over 90 days before `now` (milliseconds) to the first hour of their day, which then holds
 * the day. Returns how many rows it took; 0 when nothing is left to do.
 */
export function rollUp(database: DatabaseSyncInstance, now: number): number {
  const before = (Math.floor(now / 1000 / DAY) - KEPT_DAYS) * DAY
  return ROLLED.reduce((sum, rolled) => sum + rollUpTable(database, rolled, before), 0)
}

function rollUpTable(database: DatabaseSyncInstance, rolled: Rolled, before: number): number {
  const { table, key, names, sums } = rolled
  const columns = [...key, ...names, ...sums]
  const old = database
    .prepare(
      `SELECT ${columns.join(', ')} FROM ${table} WHERE hour < ? AND hour % ${DAY} <> 0 ORDER BY hour LIMIT ${AT_A_TIME}`,
    )
    .all(before) as Record<string, string | number>[]
  if (old.length === 0) return 0
  const add = sums.map(sum => `${sum} = ${sum} + excluded.${sum}`).join(', ')
  const toDay = database.prepare(
    `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')}) ON CONFLICT DO UPDATE SET ${add}`,
  )
  const remove = database.prepare(
    `DELETE FROM ${table} WHERE ${key.map(name => `${name} = ?`).join(' AND ')}`,
  )
  inTransaction(database, () => {
    for (const row of old) {
      const hour = row['hour'] as number
      toDay.run(...columns.map(name => (name === 'hour' ? hour - (hour % DAY) : row[name]!)))
      remove.run(...key.map(name => row[name]!))
    }
  })
  return old.length
}
