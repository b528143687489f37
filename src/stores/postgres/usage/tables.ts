/** The tables of usage in PostgreSQL, as those of journal.db are written to them. */
import type { Page } from '../../sqlite/usage/reports/report.ts'
import { columnsOf, hasHour, TRACKED } from '../../sqlite/usage/reports/tracked.ts'
import type { Tracked } from '../../sqlite/usage/reports/tracked.ts'
import { hasLatency, isLatency } from './latency.ts'
import type { Fence } from './nodes.ts'

/** Their names. */
export const TABLE: Readonly<Record<Tracked['table'], string>> = {
  usage: 'usage',
  refusals: 'refusal',
  totals: 'total',
  windows: 'quota_window',
}

/** A statement, and how many of a page's columns it takes. */
interface Upsert {
  readonly sql: string
  readonly columns: number
}

/** Of the tables with latency, and of those before. */
const UPSERTS: ReadonlyMap<boolean, Readonly<Record<string, Upsert>>> = new Map(
  [true, false].map(hasLatency => [
    hasLatency,
    Object.fromEntries(TRACKED.map(tracked => [tracked.table, upsertOf(tracked, hasLatency)])),
  ]),
)

/** The statement that writes a page of a node's rows as report `rev`, and its values. */
export function upsert(
  { table, columns: all }: Page,
  { no, rolled, tables }: Fence,
  rev: number,
): readonly [sql: string, values: readonly (string | number)[]] {
  const { sql, columns } = UPSERTS.get(hasLatency(tables))![table]!
  return [sql, [no, rev, rolled, ...all.slice(0, columns)]]
}

/** $1 is the node, $2 the number of the report, $3 the hour before which its rows are final. */
function upsertOf(tracked: Tracked, hasLatency: boolean): Upsert {
  const { table, key, names, numbers } = tracked
  const isThere = (name: string): boolean => hasLatency || !isLatency(name)
  const sums = tracked.sums.filter(isThere)
  const columns = columnsOf(tracked).filter(isThere)
  const types = columns.map(name => (numbers.includes(name) || sums.includes(name) ? 'bigint' : 'text'))
  const arrays = types.map((type, i) => `$${i + 4}::${type}[]`)
  // Every statement has all its values, where there are no hours too.
  const where = hasHour(tracked) ? 'hour >= $3::bigint' : '$3::bigint >= 0'
  const values = columns.map(name => (isLatency(name) ? `nullif(${name}, 0)` : name))
  const sql = `INSERT INTO ${TABLE[table]} AS o (node, rev, ${columns.join(', ')})
    SELECT $1::smallint, $2::bigint, ${values.join(', ')} FROM unnest(${arrays.join(', ')}) AS n (${columns.join(', ')})
    WHERE ${where} ORDER BY ${[...names, ...key].join(', ')}
    ON CONFLICT (${[...names, ...key].join(', ')}, node) DO UPDATE SET rev = excluded.rev, ${sums.map(sum => `${sum} = excluded.${sum}`).join(', ')}
    WHERE o.rev < excluded.rev`
  return { sql, columns: columns.length }
}
