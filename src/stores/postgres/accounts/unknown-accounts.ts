/** Accounts of a data directory that was used without PostgreSQL: a start there would lose those that PostgreSQL does not have. */
import type { DatabaseSync } from '../../sqlite/driver.ts'
import type { Postgres } from '../postgres.ts'

/** Rows that are looked for in PostgreSQL at a time. */
const PAGE = 1_000

/** Throws a sentence if accounts.db has accounts or endpoints that PostgreSQL does not have; `hasTables` is false of an empty PostgreSQL. */
export async function refuseUnknown(
  database: Pick<DatabaseSync, 'prepare'>,
  postgres: Pick<Postgres, 'query'>,
  hasTables = true,
): Promise<void> {
  for (const table of ['account', 'endpoint']) {
    const page = database.prepare(`SELECT seq, id FROM ${table} WHERE seq > ? ORDER BY seq LIMIT ?`)
    for (let last = 0; ;) {
      const own = page.all(last, PAGE) as unknown as readonly { seq: number; id: string }[]
      if (own.length === 0) break
      last = own.at(-1)!.seq
      const ids = own.map(({ id }) => id)
      const known = hasTables
        ? await postgres.query(`SELECT 1 FROM ${table} WHERE id = ANY($1::text[])`, [ids])
        : []
      if (known.length < own.length)
        throw new Error(
          `accounts.db holds ${table}s that PostgreSQL does not know: "tollgate migrate --to postgres" takes them there`,
        )
    }
  }
}
