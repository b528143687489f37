/** Statements that write rows of one table of the replica. */
import type { DatabaseSync } from '../../sqlite/driver.ts'
import { quoted, type Table } from './tables.ts'

/** The holder keeps the database referenced. */
export function statementsOf(database: DatabaseSync, { name, key, columns }: Table) {
  const names = columns.map(column => column.name)
  const places = names.map((_, i) => `?${i + 1}`)
  const same = names.flatMap((each, i) =>
    each === 'used_at' ? [] : [`"${each}" ${each === key ? '=' : 'IS'} ?${i + 1}`],
  )
  return {
    // Of two rows with one unique value the later one is right: the other has another one by the end of the pull, or is gone.
    put: database.prepare(`INSERT OR REPLACE INTO ${name} (${quoted(names)}) VALUES (${places.join(', ')})`),
    remove: database.prepare(`DELETE FROM ${name} WHERE "${key}" = ?`),
    between: database.prepare(
      `SELECT "${key}" AS key FROM ${name} WHERE (?1 IS NULL OR "${key}" > ?1) AND (?2 IS NULL OR "${key}" <= ?2)`,
    ),
    used:
      name === 'endpoint'
        ? database.prepare(
            `UPDATE endpoint SET used_at = ?${names.indexOf('used_at') + 1} WHERE ${same.join(' AND ')}`,
          )
        : null,
  }
}
