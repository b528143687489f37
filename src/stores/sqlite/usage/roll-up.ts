/** Hours become days when they are old: a bill of last year needs no hours, and the file stays small. */
import type { DatabaseSync } from '../driver.ts'
import { inTransaction } from '../transaction.ts'
import { USAGE_SUMS } from './columns.ts'

/** Days for which hours are kept (design, "Metering"). */
const KEPT_DAYS = 90
const DAY = 86_400
/** Rows of a table that are rolled up in one transaction at most. */
const AT_A_TIME = 500

/** A table with a row per hour. One whose hour is a multiple of a day takes the others of its day. */
export interface Rolled {
  readonly table: string
  readonly key: readonly string[]
  readonly names: readonly string[]
  readonly sums: readonly string[]
}

/** All of them. */
export const ROLLED: readonly Rolled[] = [
  {
    table: 'usage',
    key: ['endpoint', 'hour', 'method', 'network', 'plan'],
    names: ['account'],
    sums: USAGE_SUMS,
  },
  {
    table: 'refusals',
    key: ['endpoint', 'hour', 'method', 'network', 'reason'],
    names: ['account'],
    sums: ['count'],
  },
]

/**
 * Adds some of the hours that began over 90 days before `now` (milliseconds) to the first hour of their day, which then holds
 * the day, for about `ms` milliseconds a table. Returns how many rows it took; 0 when nothing is left to do.
 */
export function rollUp(database: DatabaseSync, now: number, ms = Infinity): number {
  const before = (Math.floor(now / 1000 / DAY) - KEPT_DAYS) * DAY
  return ROLLED.reduce((sum, rolled) => sum + rollUpTable(database, rolled, before, ms), 0)
}

function rollUpTable(
  database: DatabaseSync,
  { table, key, names, sums }: Rolled,
  before: number,
  ms: number,
): number {
  // The index by hour has the keys: the rows themselves, which lie anywhere, are read one by one.
  const old = database
    .prepare(
      `SELECT ${key.join(', ')} FROM ${table} WHERE hour < ? AND hour % ${DAY} <> 0 ORDER BY hour LIMIT ${AT_A_TIME}`,
    )
    .all(before) as Record<string, string | number>[]
  if (old.length === 0) return 0
  const columns = [...key, ...names, ...sums]
  const isRow = key.map(name => `${name} = ?`).join(' AND ')
  const add = sums.map(sum => `${sum} = ${sum} + excluded.${sum}`).join(', ')
  const toDay = database.prepare(
    `INSERT INTO ${table} (${columns.join(', ')})
     SELECT ${columns.map(name => (name === 'hour' ? `hour - hour % ${DAY}` : name)).join(', ')} FROM ${table} WHERE ${isRow}
     ON CONFLICT DO UPDATE SET ${add}`,
  )
  const remove = database.prepare(`DELETE FROM ${table} WHERE ${isRow}`)
  const end = performance.now() + ms
  let count = 0
  inTransaction(database, () => {
    do {
      const values = key.map(name => old[count]![name]!)
      toDay.run(...values)
      remove.run(...values)
      count += 1
    } while (count < old.length && performance.now() < end)
  })
  return count
}
