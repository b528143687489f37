/**
 * Sums of PostgreSQL's rows in a database of SQLite with the tables of journal.db: what reads those gives the same answers of all nodes as of one, byte for
 * byte. Rows are added up by PostgreSQL as far as the question allows.
 */
import pg from 'pg'
import type { DatabaseSync } from '../../sqlite/driver.ts'
import { isLatency, PLAIN_SUMS, USAGE_SUMS } from '../../sqlite/usage/columns.ts'

/** Rows that are fetched at a time. */
const FETCH = 2_000

/** What to copy. Hours are Unix seconds; each of `null` is any. */
export interface Wanted {
  readonly from: number
  readonly to: number
  readonly accountId: string | null
  readonly endpointId: string | null
  readonly network: string | null
  readonly method: string | null
  /** Seconds of the steps that hours are put together in; null where only the sum over all of them is asked for. */
  readonly step: number | null
  /** Columns of which one value stands for all: they are not asked for. */
  readonly without: readonly ('account' | 'endpoint' | 'method' | 'network' | 'plan' | 'reason')[]
  readonly usage: boolean
  /** Whether how long upstreams took is asked for. */
  readonly latency: boolean
  readonly refusals: boolean
}

/** Runs a statement on one connection. */
export type Run = (sql: string, values?: readonly unknown[]) => Promise<readonly (readonly unknown[])[]>

/** A connection whose numbers are numbers, and whose rows are arrays. */
export function runOn(client: pg.Client | pg.PoolClient): Run {
  const types = new pg.TypeOverrides()
  types.setTypeParser(pg.types.builtins.INT8, Number)
  return async (text, values = []) => {
    const { rows } = await client.query({ text, values: [...values], rowMode: 'array', types })
    return rows as unknown[][]
  }
}

/** Copies at one moment; `expired` is asked between two fetches, and throws to end it. */
export async function copyUsage(
  run: Run,
  into: DatabaseSync,
  wanted: Wanted,
  expired: () => void = () => undefined,
): Promise<void> {
  await atOneMoment(run, async () => {
    into.exec('BEGIN')
    if (wanted.usage) {
      const sums = wanted.latency ? USAGE_SUMS : PLAIN_SUMS
      await copy(
        run,
        selectOf('usage', sums, wanted),
        insertInto(into, 'usage', [...KEYS.usage, ...sums]),
        expired,
      )
    }
    if (wanted.refusals)
      await copy(
        run,
        selectOf('refusal', ['count'], wanted),
        insertInto(into, 'refusals', [...KEYS.refusal, 'count']),
        expired,
      )
    // Where the endpoints of an account are looked for.
    into.exec(`INSERT INTO totals SELECT endpoint, account, 0, 0 FROM usage WHERE true GROUP BY endpoint, account ON CONFLICT DO NOTHING;
      INSERT INTO totals SELECT endpoint, account, 0, 0 FROM refusals WHERE true GROUP BY endpoint, account ON CONFLICT DO NOTHING`)
    into.exec('COMMIT')
  })
}

/** Copies totals of an account's endpoints, and quota windows that began from `from` to before `to`. */
export async function copySums(
  run: Run,
  into: DatabaseSync,
  { accountId, from, to }: Pick<Wanted, 'accountId' | 'from' | 'to'>,
): Promise<void> {
  await atOneMoment(run, async () => {
    into.exec('BEGIN')
    const totals = `SELECT endpoint, account, sum(calls)::bigint, sum(requests)::bigint FROM total
      WHERE account = $1 GROUP BY endpoint, account`
    if (accountId !== null)
      await copy(
        run,
        { sql: totals, values: [accountId] },
        insertInto(
          into,
          'totals',
          ['endpoint', 'account', 'calls', 'requests'],
          'calls = excluded.calls, requests = excluded.requests',
        ),
      )
    const windows = `SELECT account, start, sum(requests)::bigint FROM quota_window
      WHERE start >= $1 AND start < $2 AND ($3::text IS NULL OR account = $3) GROUP BY account, start`
    await copy(
      run,
      { sql: windows, values: [from, to, accountId] },
      insertInto(into, 'windows', ['account', 'start', 'requests']),
    )
    into.exec('COMMIT')
  })
}

const KEYS = {
  usage: ['endpoint', 'hour', 'method', 'network', 'plan', 'account'],
  refusal: ['endpoint', 'hour', 'method', 'network', 'reason', 'account'],
} as const

interface Statement {
  readonly sql: string
  readonly values: readonly unknown[]
}

/** What is asked for of one table, over all nodes. */
function selectOf(table: keyof typeof KEYS, columns: readonly string[], wanted: Wanted): Statement {
  const { accountId, endpointId, network, method, step, without } = wanted
  const from = Math.floor(wanted.from / 3600) * 3600
  // A step that began before the question does is still that step.
  const hour =
    step === null ? '$1::bigint' : step === 3600 ? 'hour' : `greatest(hour - hour % ${step}, $1::bigint)`
  const isLeftOut = (name: string): boolean => (without as readonly string[]).includes(name)
  // An endpoint has one account: where endpoints are not told apart, accounts may still be.
  const nobody = isLeftOut('account') ? "''" : 'account'
  const shown = KEYS[table].map(name =>
    name === 'hour' ? hour : !isLeftOut(name) ? name : name === 'endpoint' ? nobody : "''",
  )
  const grouped = shown.flatMap((column, i) => (column === "''" || column === '$1::bigint' ? [] : [i + 1]))
  const sums = columns.map(sum =>
    isLatency(sum) ? `coalesce(sum(${sum}), 0)::bigint` : `sum(${sum})::bigint`,
  )
  const conditions = ['hour >= $1', 'hour < $2']
  const values: unknown[] = [from, wanted.to]
  for (const [column, value] of Object.entries({ account: accountId, endpoint: endpointId, network, method }))
    if (value !== null) {
      values.push(value)
      conditions.push(`${column} = $${values.length}`)
    }
  const groupBy = grouped.length === 0 ? '' : `GROUP BY ${grouped.join(', ')}`
  return {
    sql: `SELECT ${[...shown, ...sums].join(', ')} FROM ${table} WHERE ${conditions.join(' AND ')} ${groupBy} HAVING count(*) > 0`,
    values,
  }
}

type Insert = (row: readonly unknown[]) => void

function insertInto(into: DatabaseSync, table: string, columns: readonly string[], update?: string): Insert {
  const conflict = update === undefined ? '' : `ON CONFLICT DO UPDATE SET ${update}`
  const insert = into.prepare(
    `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')}) ${conflict}`,
  )
  return row => {
    insert.run(...(row as (string | number)[]))
  }
}

/** Fetch by fetch: neither side holds all of it. */
async function copy(
  run: Run,
  { sql, values }: Statement,
  insert: Insert,
  expired: () => void = () => undefined,
): Promise<void> {
  await run(`DECLARE rows NO SCROLL CURSOR FOR ${sql}`, values)
  for (;;) {
    const rows = await run(`FETCH ${FETCH} FROM rows`)
    for (const row of rows) insert(row)
    if (rows.length < FETCH) break
    expired()
  }
  await run('CLOSE rows')
}

async function atOneMoment(run: Run, work: () => Promise<void>): Promise<void> {
  await run('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
  await work()
  await run('COMMIT')
}
