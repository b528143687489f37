/** Writes what a change has changed to PostgreSQL. */
import type { Query } from '../postgres.ts'
import type { TableChange } from './capture.ts'
import { keyText, keyType, quoted, toJson, type Row, type Table, type Value } from './tables.ts'

/** Rows of one statement at most: each has to end in the time of a query. */
const ROWS = 1_000
/** Changes that a replica may be behind and still follow; one that is further behind reads everything again. */
const KEPT = 50_000
/** In how many changes older ones are forgotten once. */
const FORGET_EVERY = 256

/** The channel on which gateways hear that something was written. */
export const CHANNEL = 'tollgate'

/** The change that is written, by number, and the id of this write. */
export interface Written {
  readonly change: number
  readonly write: string
}

/** One data-modifying statement, with its values. */
interface Part {
  readonly sql: (place: (value: unknown) => string) => string
  readonly size: number
}

/** Writes rows and removals by number `change`. Runs in a transaction that has taken this number. */
export async function write(
  query: Query,
  changes: readonly TableChange[],
  { change, write: id }: Written,
  isMigration = false,
): Promise<void> {
  let parts: Part[] = []
  const all = changes.flatMap(({ table, rows, removed }) => [
    ...chunks(rows).map(some => upsert(table, some, change)),
    ...chunks(removed).flatMap(some => removal(table, some, change)),
  ])
  for (const part of all) {
    if (parts.length > 0 && parts.reduce((sum, { size }) => sum + size, part.size) > ROWS) {
      await run(query, parts, 'SELECT 1')
      parts = []
    }
    parts.push(part)
  }
  const audits = changes.find(({ table }) => table.name === 'audit')?.rows.map(({ seq }) => Number(seq)) ?? []
  const audit = audits.reduce((most, seq) => Math.max(most, seq), 0)
  const own: Part = {
    size: 1,
    sql: place => `UPDATE meta SET write = ${place(id)}::uuid, audit = greatest(audit, ${audit})
      ${isMigration ? `, migrated = ${place(id)}::uuid` : ''}`,
  }
  const noted: Part = { size: 1, sql: place => `INSERT INTO written VALUES (${change}, ${place(id)}::uuid)` }
  await run(query, [...parts, own, noted], `SELECT pg_notify('${CHANNEL}', '${change}')`)
  if (change % FORGET_EVERY > 0) return
  await query(`DELETE FROM written WHERE change < ${change - KEPT}`)
  await query(`DELETE FROM removed WHERE change < ${change - KEPT}`)
}

function upsert({ name, key, columns }: Table, rows: readonly Row[], change: number): Part {
  const names = columns.map(column => column.name)
  const set = names.map(each => `"${each}" = excluded."${each}"`).join(', ')
  return {
    size: rows.length,
    sql: place => `INSERT INTO ${name} (${quoted(names)}, changed)
      SELECT ${quoted(names)}, ${change} FROM jsonb_populate_recordset(NULL::${name}, ${place(JSON.stringify(rows.map(toJson)))}::jsonb)
      ON CONFLICT ("${key}") DO UPDATE SET ${set}, changed = excluded.changed`,
  }
}

function removal(table: Table, keys: readonly Value[], change: number): Part[] {
  const { name, key } = table
  const type = keyType(table)
  return [
    {
      size: keys.length,
      sql: place => `DELETE FROM ${name} WHERE "${key}" = ANY(${place(keys)}::${type}[])`,
    },
    {
      size: keys.length,
      sql: place => `INSERT INTO removed SELECT '${name}', key, ${change} FROM unnest(${place(keys.map(keyText))}::text[]) AS key
        ON CONFLICT (tbl, key) DO UPDATE SET change = excluded.change`,
    },
  ]
}

/** All in one statement: each would be a round trip for which every other writer waits. */
function run(query: Query, parts: readonly Part[], last: string): Promise<unknown> {
  const values: unknown[] = []
  const place = (value: unknown): string => `$${values.push(value)}`
  const named = parts.map(({ sql }, i) => `p${i} AS (${sql(place)})`)
  return query(`WITH ${named.join(', ')} ${last}`, values)
}

function chunks<T>(all: readonly T[]): T[][] {
  return Array.from({ length: Math.ceil(all.length / ROWS) }, (_, i) => all.slice(i * ROWS, (i + 1) * ROWS))
}
