/** The tables of the ledger that are also kept in PostgreSQL, and how what has changed in them is noted. */

import { USAGE_SUMS } from '../columns.ts'

/** One of them. */
export interface Tracked {
  readonly table: 'usage' | 'refusals' | 'totals' | 'windows'
  readonly key: readonly string[]
  /** What a row says besides its key and its sums. */
  readonly names: readonly string[]
  readonly sums: readonly string[]
  /** Columns that are numbers, besides the sums. */
  readonly numbers: readonly string[]
}

export const TRACKED: readonly Tracked[] = [
  {
    table: 'usage',
    key: ['endpoint', 'hour', 'method', 'network', 'plan'],
    names: ['account'],
    sums: USAGE_SUMS,
    numbers: ['hour'],
  },
  {
    table: 'refusals',
    key: ['endpoint', 'hour', 'method', 'network', 'reason'],
    names: ['account'],
    sums: ['count'],
    numbers: ['hour'],
  },
  { table: 'totals', key: ['endpoint'], names: ['account'], sums: ['calls', 'requests'], numbers: [] },
  { table: 'windows', key: ['account', 'start'], names: [], sums: ['requests'], numbers: ['start'] },
]

/** Days behind which rows are no longer tracked: older hours only become days, which changes no sum. */
export const TRACKED_DAYS = 80

/** Whether a row of this table has an hour. */
export function hasHour({ key }: Tracked): boolean {
  return key.includes('hour')
}

/** The columns of a page, in their order. */
export function columnsOf({ key, names, sums }: Tracked): readonly string[] {
  return [...key, ...names, ...sums]
}

/** `changed_…` has the keys of rows that changed; `base_…` what of a row another node has reported (changes.ts). */
export function changedAndBase({ table, key, sums, numbers }: Tracked): string {
  const columns = key.map(name => `${name} ${numbers.includes(name) ? 'INTEGER' : 'TEXT'} NOT NULL`)
  const primary = `PRIMARY KEY (${key.join(', ')})`
  return `CREATE TABLE changed_${table} (${columns.join(', ')}, rev INTEGER NOT NULL, ${primary}) WITHOUT ROWID;
   CREATE INDEX changed_${table}_by_rev ON changed_${table} (rev);
   CREATE TABLE base_${table} (${columns.join(', ')}, ${sums.map(sum => `${sum} INTEGER NOT NULL`).join(', ')}, ${primary}) WITHOUT ROWID;`
}

/** Triggers that note each change in its own transaction. Without PostgreSQL there are none, and nothing is paid for them. */
export function triggersOf(tracked: Tracked): readonly { readonly name: string; readonly sql: string }[] {
  const { table, key } = tracked
  const values = key.map(name => `NEW.${name}`).join(', ')
  const when = hasHour(tracked) ? `WHEN NEW.hour > unixepoch() - ${TRACKED_DAYS * 86_400}` : ''
  return (['INSERT', 'UPDATE'] as const).map(event => {
    const name = `track_${table}_${event.toLowerCase()}`
    return {
      name,
      sql: `CREATE TRIGGER ${name} AFTER ${event} ON ${table} ${when} BEGIN
        INSERT INTO changed_${table} VALUES (${values}, (SELECT rev FROM node))
          ON CONFLICT DO UPDATE SET rev = excluded.rev WHERE rev <> excluded.rev;
      END`,
    }
  })
}

/** A table and triggers of one connection that keep what each row held before it first changed. */
export function startOf({ table, key, sums }: Tracked): readonly string[] {
  const columns = [...key, ...sums]
  const keep = (event: string, values: readonly string[]): string =>
    `CREATE TEMP TRIGGER start_${table}_${event.toLowerCase()} AFTER ${event} ON main.${table} BEGIN
      INSERT INTO start_${table} VALUES (${values.join(', ')}) ON CONFLICT DO NOTHING;
    END`
  return [
    `CREATE TEMP TABLE start_${table} (${columns.join(', ')}, PRIMARY KEY (${key.join(', ')}))`,
    keep('INSERT', [...key.map(name => `NEW.${name}`), ...sums.map(() => '0')]),
    keep(
      'UPDATE',
      columns.map(name => `OLD.${name}`),
    ),
  ]
}
