/** The tables of usage in PostgreSQL, as those of journal.db are written to them. */
import { columnsOf } from '../../sqlite/usage/reports/changes.ts'
import type { Page } from '../../sqlite/usage/reports/changes.ts'
import { hasHour, TRACKED } from '../../sqlite/usage/reports/tracked.ts'
import type { Tracked } from '../../sqlite/usage/reports/tracked.ts'

/** Their names. */
export const TABLE: Readonly<Record<Tracked['table'], string>> = {
  usage: 'usage',
  refusals: 'refusal',
  totals: 'total',
  windows: 'quota_window',
}

const UPSERTS = Object.fromEntries(TRACKED.map(tracked => [tracked.table, upsertOf(tracked)])) as Readonly<
  Record<Tracked['table'], string>
>

/** Writes a page of a node's rows; $1 is the node, $2 the number of the report, $3 the hour before which its rows are final. */
export function upsertSql({ table }: Page): string {
  return UPSERTS[table]
}

function upsertOf(tracked: Tracked): string {
  const { table, key, names, sums, numbers } = tracked
  const columns = columnsOf(tracked)
  const types = columns.map(name => (numbers.includes(name) || sums.includes(name) ? 'bigint' : 'text'))
  const arrays = types.map((type, i) => `$${i + 4}::${type}[]`)
  // Every statement has all its values, where there are no hours too.
  const where = hasHour(tracked) ? 'hour >= $3::bigint' : '$3::bigint >= 0'
  return `INSERT INTO ${TABLE[table]} AS o (node, rev, ${columns.join(', ')})
    SELECT $1::smallint, $2::bigint, ${columns.join(', ')} FROM unnest(${arrays.join(', ')}) AS n (${columns.join(', ')})
    WHERE ${where} ORDER BY ${[...names, ...key].join(', ')}
    ON CONFLICT (${[...names, ...key].join(', ')}, node) DO UPDATE SET rev = excluded.rev, ${sums.map(sum => `${sum} = excluded.${sum}`).join(', ')}
    WHERE o.rev < excluded.rev`
}
