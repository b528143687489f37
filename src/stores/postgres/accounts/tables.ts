/** The tables of accounts.db that PostgreSQL has too, and their rows on the way between the two. */
import type { DatabaseSync } from '../../sqlite/driver.ts'

/** A value of a column in SQLite. */
export type Value = number | string | Uint8Array | null

/** A row by the names of its columns. */
export type Row = Readonly<Record<string, Value>>

/** One table. */
export interface Table {
  readonly name: string
  /** The column of its primary key. */
  readonly key: string
  readonly columns: readonly Column[]
}

interface Column {
  readonly name: string
  /** As SQLite names it. */
  readonly type: string
}

/** In the order in which rows are taken in: first what opens all others, then accounts before what belongs to them. */
const KEYS = {
  canary: 'id',
  rotation: 'id',
  earlier_key: 'seq',
  account: 'seq',
  endpoint: 'seq',
  old_key: 'key_hash',
  session: 'id_hash',
  token: 'id',
  audit: 'seq',
  once: 'key_hash',
  webhook: 'account_id',
  delivery: 'seq',
  // Triggers on deliveries count in these two; the counts that come with them are the right ones.
  receiver: 'target',
  queue: 'id',
  raised: 'name',
  trail: 'id',
} as const

/** Tables whose rows say what a key stands for. */
export const OF_KEYS: readonly string[] = ['account', 'endpoint', 'old_key']

/** The tables of an open accounts.db. */
export function tablesOf(database: DatabaseSync): readonly Table[] {
  return Object.entries(KEYS).map(([name, key]) => {
    const columns = database.prepare('SELECT name, type FROM pragma_table_info(?)').all(name)
    return { name, key, columns: columns }
  })
}

/** Columns as both databases take them: some are words of SQL. */
export function quoted(names: readonly string[], of = ''): string {
  return names.map(name => `${of}"${name}"`).join(', ')
}

/** A row as PostgreSQL reads it from JSON: bytes are hex. */
export function toJson(row: Row): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, value instanceof Uint8Array ? hex(value) : value]),
  )
}

/** The values of a row that PostgreSQL has given as JSON, in the order of the columns. */
export function fromJson({ columns }: Table, row: Readonly<Record<string, unknown>>): Value[] {
  return columns.map(({ name, type }) => {
    const value = (row[name] ?? null) as Value
    return type === 'BLOB' && typeof value === 'string' ? Buffer.from(value.slice(2), 'hex') : value
  })
}

/** What PostgreSQL calls the type of the key. */
export function keyType({ key, columns }: Table): string {
  const type = columns.find(({ name }) => name === key)?.type
  return type === 'BLOB' ? 'bytea' : type === 'INTEGER' ? 'bigint' : 'text'
}

/** A key as `removed` has it. */
export function keyText(key: Value): string {
  return key instanceof Uint8Array ? hex(key) : String(key)
}

/** The key of a table that such a text stands for. */
export function keyOf({ key, columns }: Table, text: string): Value {
  const type = columns.find(({ name }) => name === key)?.type
  if (type === 'BLOB') return Buffer.from(text.slice(2), 'hex')
  return type === 'INTEGER' ? Number(text) : text
}

function hex(bytes: Uint8Array): string {
  return `\\x${Buffer.from(bytes).toString('hex')}`
}
