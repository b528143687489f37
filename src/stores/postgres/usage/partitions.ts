/** The partitions of usage: one a day, made ahead; and hours become days in those that are old. */
import { USAGE_SUMS } from '../../sqlite/usage/columns.ts'
import type { Postgres, Query } from '../postgres.ts'

/** Any number, the same for all gateways: one at a time looks after the tables. */
const LOCK = 0x54476c64
/** Days that are made ahead, and days for which hours are kept. */
const AHEAD = 7
const KEPT_DAYS = 90
const DAY = 86_400
/** Rows of one transaction, where rows of many days are in one partition. */
const AT_ONCE = 5_000

/** One of the tables with hours. */
export interface Rolled {
  readonly table: 'usage' | 'refusal'
  readonly key: readonly string[]
  readonly sums: readonly string[]
}

export const ROLLED: readonly Rolled[] = [
  {
    table: 'usage',
    key: ['account', 'endpoint', 'method', 'network', 'plan'],
    sums: USAGE_SUMS,
  },
  { table: 'refusal', key: ['account', 'endpoint', 'method', 'network', 'reason'], sums: ['count'] },
]

/** Runs `work` on the one gateway that looks after the tables now, in a transaction; elsewhere nothing. */
export function alone<T>(postgres: Postgres, work: (query: Query) => Promise<T>): Promise<T | null> {
  return postgres.transaction(async query => {
    const [lock] = await query<{ has: boolean }>('SELECT pg_try_advisory_xact_lock($1) AS has', [LOCK])
    return lock?.has === true ? work(query) : null
  })
}

/** Makes the partitions of today and of the days to come; `now` in milliseconds. */
export async function makePartitions(postgres: Postgres, now: number): Promise<void> {
  const today = Math.floor(now / 1000 / DAY) * DAY
  for (let day = today - DAY; day <= today + AHEAD * DAY; day += DAY)
    await alone(postgres, async query => {
      for (const { table } of ROLLED) await makePartition(query, table, day)
    })
}

async function makePartition(query: Query, table: string, day: number): Promise<void> {
  const name = nameOf(table, day)
  const [found] = await query<{ has: boolean }>(
    `SELECT to_regclass($1) IS NOT NULL OR $2::bigint < (SELECT coalesce(min(hour), 0) FROM
       (SELECT (regexp_match(pg_get_expr(relpartbound, oid), 'TO \\(''(\\d+)'''))[1]::bigint AS hour FROM pg_class WHERE oid = to_regclass($3)) AS past) AS has`,
    [name, day, `${table}_past`],
  )
  if (found?.has === true) return
  await query(`CREATE TABLE ${name} (LIKE ${table} INCLUDING ALL) WITH (fillfactor = 70)`)
  // Rows of a clock that was ahead.
  await query(`WITH moved AS (DELETE FROM ${table}_rest WHERE hour >= ${day} AND hour < ${day + DAY} RETURNING *)
    INSERT INTO ${name} SELECT * FROM moved`)
  await query(`ALTER TABLE ${table} ATTACH PARTITION ${name} FOR VALUES FROM (${day}) TO (${day + DAY})`)
}

/** Makes days of some hours that are over 90 days old; returns whether there were any. Sums stay what they are. */
export async function makeDays(postgres: Postgres, now: number): Promise<boolean> {
  const before = Math.floor(now / 1000 / DAY) * DAY - KEPT_DAYS * DAY
  const made = await alone(postgres, async query => {
    for (const rolled of ROLLED)
      if ((await makeDay(query, rolled, before)) || (await makePastDay(query, rolled, before))) return true
    return false
  })
  return made === true
}

async function makeDay(query: Query, rolled: Rolled, before: number): Promise<boolean> {
  const { table } = rolled
  const partitions = await query<{ name: string }>(
    'SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = to_regclass($1) ORDER BY 1',
    [table],
  )
  for (const { name } of partitions) {
    const [, date] = /_d(\d{8})$/.exec(name) ?? []
    if (date === undefined) continue
    const day = Date.UTC(Number(date.slice(0, 4)), Number(date.slice(4, 6)) - 1, Number(date.slice(6))) / 1000
    if (day >= before) return false
    await replaceByDay(query, rolled, name, day)
    return true
  }
  return false
}

/** Of what was used before there were these tables: a day's hours become one of its rows in the partition of all of them. */
async function makePastDay(query: Query, { table, key, sums }: Rolled, before: number): Promise<boolean> {
  const past = `${table}_past`
  const isHour = 'node = 0 AND hour % 86400 <> 0'
  const [first] = await query<{ hour: number | null }>(
    `SELECT min(hour) AS hour FROM ${past} WHERE ${isHour} AND hour < $1`,
    [before],
  )
  if (first?.hour == null) return false
  const day = first.hour - (first.hour % DAY)
  await query(
    `WITH moved AS (DELETE FROM ${past} WHERE ctid = ANY(ARRAY(
       SELECT ctid FROM ${past} WHERE ${isHour} AND hour < $1 ORDER BY hour LIMIT ${AT_ONCE})) RETURNING *)
     INSERT INTO ${past} AS o (hour, node, rev, ${[...key, ...sums].join(', ')})
     SELECT ${day}, 0, 0, ${key.join(', ')}, ${sums.map(sum => `sum(${sum})`).join(', ')} FROM moved GROUP BY ${key.join(', ')}
     ON CONFLICT (${key.join(', ')}, hour, node) DO UPDATE SET ${sums.map(sum => `${sum} = coalesce(o.${sum} + excluded.${sum}, o.${sum}, excluded.${sum})`).join(', ')}`,
    [day + DAY],
  )
  return true
}

/** The raw partition is dropped, and one with a row a day is there in its place, in one moment. Rows of nodes that are not final stay. */
async function replaceByDay(
  query: Query,
  { table, key, sums }: Rolled,
  name: string,
  day: number,
): Promise<void> {
  const to = `${nameOf(table, day)}_day`
  const columns = [...key, ...sums].join(', ')
  await query(`LOCK TABLE ${name} IN SHARE MODE`)
  await query(`CREATE TABLE ${to} (LIKE ${table} INCLUDING ALL) WITH (fillfactor = 100)`)
  await query(`INSERT INTO ${to} (hour, node, rev, ${columns})
    SELECT ${day}, 0, 0, ${key.join(', ')}, ${sums.map(sum => `sum(${sum})`).join(', ')} FROM ${name} WHERE node = 0 GROUP BY ${key.join(', ')}`)
  await query(
    `INSERT INTO ${to} (hour, node, rev, ${columns}) SELECT hour, node, rev, ${columns} FROM ${name} WHERE node <> 0`,
  )
  await query(`ALTER TABLE ${table} DETACH PARTITION ${name}`)
  await query(`DROP TABLE ${name}`)
  await query(`ALTER TABLE ${table} ATTACH PARTITION ${to} FOR VALUES FROM (${day}) TO (${day + DAY})`)
}

function nameOf(table: string, day: number): string {
  return `${table}_d${new Date(day * 1000).toISOString().slice(0, 10).replaceAll('-', '')}`
}
