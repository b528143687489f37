/** The tables of usage in PostgreSQL, as those of journal.db are written to them. */
import type { Page } from '../../sqlite/usage/reports/report.ts'
import { columnsOf, hasHour, TRACKED } from '../../sqlite/usage/reports/tracked.ts'
import type { Tracked } from '../../sqlite/usage/reports/tracked.ts'
import { isLatency } from '../../sqlite/usage/columns.ts'
import type { Fence } from './nodes.ts'

/** Their names. */
export const TABLE: Readonly<Record<Tracked['table'], string>> = {
  usage: 'usage',
  refusals: 'refusal',
  totals: 'total',
  windows: 'quota_window',
}

const UPSERTS: Readonly<Record<string, string>> = Object.fromEntries(
  TRACKED.map(tracked => [tracked.table, upsertOf(tracked)]),
)

/** The statement that writes a page of a node's rows as report `rev`, and its values. */
export function upsert(
  { table, columns }: Page,
  { no, rolled }: Fence,
  rev: number,
): readonly [sql: string, values: readonly (string | number)[]] {
  return [UPSERTS[table]!, [no, rev, rolled, ...columns]]
}

/** $1 is the node, $2 the number of the report, $3 the hour before which its rows are final. */
function upsertOf(tracked: Tracked): string {
  const { table, key, names, numbers, sums } = tracked
  const columns = columnsOf(tracked)
  const types = columns.map(name => (numbers.includes(name) || sums.includes(name) ? 'bigint' : 'text'))
  const arrays = types.map((type, i) => `$${i + 4}::${type}[]`)
  // Every statement has all its values, where there are no hours too.
  const where = hasHour(tracked) ? 'hour >= $3::bigint' : '$3::bigint >= 0'
  const values = columns.map(name => (isLatency(name) ? `nullif(${name}, 0)` : name))
  return `INSERT INTO ${TABLE[table]} AS o (node, rev, ${columns.join(', ')})
    SELECT $1::smallint, $2::bigint, ${values.join(', ')} FROM unnest(${arrays.join(', ')}) AS n (${columns.join(', ')})
    WHERE ${where} ORDER BY ${[...names, ...key].join(', ')}
    ON CONFLICT (${[...names, ...key].join(', ')}, node) DO UPDATE SET rev = excluded.rev, ${sums.map(sum => `${sum} = excluded.${sum}`).join(', ')}
    WHERE o.rev < excluded.rev`
}
