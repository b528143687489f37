/** Takes the accounts of one machine to PostgreSQL, as they are: ids, keys, sessions, tokens and the audit trail. */
import { isReplica, openAccountsFile } from '../../sqlite/accounts/database.ts'
import { opensCanary } from '../../sqlite/accounts/secrets/canary.ts'
import { unlock } from '../../sqlite/accounts/secrets/key-ring.ts'
import type { KeyRing } from '../../sqlite/accounts/secrets/key-ring.ts'
import type { DatabaseSync } from '../../sqlite/driver.ts'
import type { Postgres } from '../postgres.ts'
import { keyType, quoted, tablesOf, toJson, type Row, type Table, type Value } from './tables.ts'
import { write } from './write.ts'

/** Rows of one transaction. */
const ROWS = 1_000

/** Where the accounts are. */
export interface MigrationPlace {
  readonly dataDir: string
  readonly env: NodeJS.ProcessEnv
  /** Milliseconds that a change may take. */
  readonly timeout: number
  /** Hears how many rows of how many were compared. */
  readonly progress: (done: number, of: number) => void
}

/** What was written; `isCopy` where there is nothing to take, as the file is a copy of what PostgreSQL has. */
export interface Migrated {
  readonly rows: number
  readonly written: number
  readonly isCopy: boolean
}

/** Takes what PostgreSQL lacks; the same a second time changes nothing. Throws one sentence where it holds something else. */
export async function migrateAccounts(postgres: Postgres, place: MigrationPlace): Promise<Migrated> {
  const { dataDir, env } = place
  const file = await openAccountsFile(dataDir, database =>
    isReplica(database) ? null : unlock(database, dataDir, env),
  )
  try {
    if (file.prepared === null) return { rows: 0, written: 0, isCopy: true }
    return await new Migration(postgres, file.database, file.prepared, place).run()
  } finally {
    file.database.close()
  }
}

/** The canary says that all is there: without it no gateway uses what is (open.ts). */
function lastCanary(tables: readonly Table[]): readonly Table[] {
  const isCanary = ({ name }: Table): boolean => name === 'canary'
  return [...tables.filter(table => !isCanary(table)), ...tables.filter(isCanary)]
}

/** One run. */
class Migration {
  readonly #postgres: Postgres
  readonly #database: DatabaseSync
  readonly #ring: KeyRing
  readonly #place: MigrationPlace
  /** The last write that was there or is its own: any other is somebody else's. */
  #last = ''
  #written = 0

  constructor(postgres: Postgres, database: DatabaseSync, ring: KeyRing, place: MigrationPlace) {
    this.#postgres = postgres
    this.#database = database
    this.#ring = ring
    this.#place = place
  }

  async run(): Promise<Migrated> {
    if (this.#ring.rotation !== null)
      throw new Error('the master key is being replaced: finish that first with "tollgate master-key rotate"')
    await this.#refuseOthers()
    const hasCanary = await this.#hasCanary()
    const tables = lastCanary(tablesOf(this.#database))
    const rows = tables.reduce((sum, { name }) => sum + this.#count(name), 0)
    let done = 0
    for (const table of tables) {
      if (table.name === 'canary' && hasCanary) continue
      for (let last: Value = null; ;) {
        const page = this.#page(table, last)
        if (page.length === 0) break
        last = page.at(-1)![table.key]!
        await this.#write(table, await this.#missing(table, page), [])
        this.#place.progress((done += page.length), rows)
      }
      await this.#remove(table)
    }
    const { seq } = (this.#database.prepare("SELECT seq FROM sqlite_sequence WHERE name = 'audit'").get() ?? {
      seq: 0,
    }) as { seq: number }
    await this.#postgres.query('UPDATE meta SET audit = $1 WHERE audit < $1', [seq])
    return { rows, written: this.#written, isCopy: false }
  }

  /** Accounts of another machine, and changes that gateways have made since the last run, are not written over. */
  async #refuseOthers(): Promise<void> {
    const [meta] = await this.#postgres.query<{ write: string; isOwn: boolean }>(
      'SELECT write::text AS write, coalesce(write = migrated, false) AS "isOwn" FROM meta',
    )
    this.#last = meta!.write
    const own = this.#database.prepare('SELECT 1 FROM account WHERE seq = ? AND id = ?')
    let [accounts, known] = [0, 0]
    for (let last = 0; ;) {
      const page = await this.#postgres.query<{ seq: number; id: string }>(
        'SELECT seq, id FROM account WHERE seq > $1 ORDER BY seq LIMIT $2',
        [last, ROWS],
      )
      if (page.length === 0) break
      last = page.at(-1)!.seq
      accounts += page.length
      known += page.filter(({ seq, id }) => own.get(seq, id) !== undefined).length
    }
    if (accounts > 0 && known === 0)
      throw new Error('PostgreSQL holds other accounts than this data directory: nothing was written')
    if (accounts > 0 && !meta!.isOwn)
      throw new Error(
        `gateways have changed the accounts in PostgreSQL already: nothing was written; "tollgate spool --dir ${this.#place.dataDir}" sends what they lack of usage`,
      )
    if (known < accounts)
      throw new Error('PostgreSQL holds other accounts than this data directory: nothing was written')
  }

  async #hasCanary(): Promise<boolean> {
    const [canary] = await this.#postgres.query<{ sealed: Buffer }>('SELECT sealed FROM canary')
    if (canary === undefined) return false
    if (!opensCanary(this.#ring.current, canary.sealed))
      throw new Error('PostgreSQL holds what another master key has sealed: nothing was written')
    return true
  }

  #count(table: string): number {
    return (this.#database.prepare(`SELECT count(*) AS rows FROM ${table}`).get() as { rows: number }).rows
  }

  #page({ name, key }: Table, last: Value): readonly Row[] {
    const sql = `SELECT * FROM ${name} WHERE ?1 IS NULL OR "${key}" > ?1 ORDER BY "${key}" LIMIT ${ROWS}`
    return this.#database.prepare(sql).all(last) as readonly Row[]
  }

  /** The rows that PostgreSQL has not, or has otherwise. */
  async #missing(table: Table, page: readonly Row[]): Promise<readonly Row[]> {
    const { name, key, columns } = table
    const all = quoted(columns.map(column => column.name))
    const found = await this.#postgres.query<{ row: Row }>(
      `SELECT row_to_json(t) AS row FROM (SELECT ${all} FROM ${name} WHERE "${key}" = ANY($1::${keyType(table)}[])) t`,
      [page.map(row => row[key])],
    )
    const there = new Map(found.map(({ row }) => [row[key], row]))
    return page.filter(row => {
      const json = toJson(row)
      const other = there.get(json[key] as Value)
      return other === undefined || columns.some(column => json[column.name] !== other[column.name])
    })
  }

  /** What has gone here since the last run. */
  async #remove(table: Table): Promise<void> {
    const { name, key } = table
    const own = this.#database.prepare(`SELECT 1 FROM ${name} WHERE "${key}" = ?`)
    const sql = `SELECT "${key}" AS key FROM ${name} WHERE $1 OR "${key}" > $2::${keyType(table)} ORDER BY "${key}" LIMIT ${ROWS}`
    for (let last: Value = null; ;) {
      const keys: { key: Value }[] = await this.#postgres.query(sql, [last === null, last])
      if (keys.length === 0) break
      last = keys.at(-1)!.key
      const gone = keys.map(row => row.key).filter(each => own.get(each as never) === undefined)
      await this.#write(table, [], gone)
    }
  }

  async #write(table: Table, rows: readonly Row[], removed: readonly Value[]): Promise<void> {
    if (rows.length + removed.length === 0) return
    this.#last = await this.#postgres.transaction(async query => {
      const [meta] = await query<{ change: number; write: string; next: string }>(`
        UPDATE meta SET change = change + 1
        RETURNING change, write::text AS write, gen_random_uuid()::text AS next`)
      if (meta!.write !== this.#last)
        throw new Error('a gateway changes accounts in PostgreSQL meanwhile: stop it, and run this again')
      await write(query, [{ table, rows, removed }], { change: meta!.change, write: meta!.next }, true)
      return meta!.next
    })
    this.#written += rows.length + removed.length
  }
}
