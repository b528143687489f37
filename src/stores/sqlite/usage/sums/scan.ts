/**
 * Adds up what the ledger and the journal hold of one account, or of all. It reads endpoint by endpoint, which is how the tables are sorted on disk: ten
 * times as fast as by account, and no statement takes long, so that a query can be ended between two of them.
 */
import type { DatabaseSync, StatementSync } from '../../driver.ts'
import { LATENCY_SUMS } from '../columns.ts'
import { addReason, Groups, MAX_GROUPS } from './groups.ts'
import type { Amounts } from './groups.ts'
import type { Latency } from '../../../../ports/latency.ts'
import { STEP } from '../../../../ports/ledger.ts'
import type { Column, GroupValues, SumsQuery } from '../../../../ports/ledger.ts'

/** Thrown when a query has taken longer than it may. */
export class TookTooLong extends Error {}

/** A charge that is in the journal and not yet in the tables. */
interface Charge {
  readonly account: string
  readonly endpoint: string
  readonly network: string
  readonly method: string
  readonly hour: number
  readonly calls: number
  readonly requests: number
}

type Row = Readonly<Record<string, string | number>>

const AMOUNTS = `sum(calls) AS calls, sum(requests) AS requests, sum(errors) AS errors, sum(refusals) AS refusals,
  sum(bytes_out) AS bytesOut, sum(upstream_ms) AS upstreamMs`
/** One value of a row: thirteen would take longer to hand over than to add up. */
const LATENCY = `json_array(${LATENCY_SUMS.map(sum => `sum(${sum})`).join(', ')}) AS latency`
const ENDPOINTS =
  'SELECT endpoint, account FROM totals WHERE (?1 IS NULL OR account = ?1) AND (?2 IS NULL OR endpoint = ?2)'
const CHARGES = `SELECT account, endpoint, network, method, hour, calls, requests FROM charges
  WHERE (?1 IS NULL OR account = ?1) AND (?2 IS NULL OR endpoint = ?2) AND (?3 IS NULL OR network = ?3) AND (?4 IS NULL OR method = ?4)`

/** An endpoint, and whose it is. */
interface Owned {
  readonly endpoint: string
  readonly account: string
}

/** What there is to read for one query, as it is at one moment: a read transaction has to be open. */
export class Scan {
  readonly #database: DatabaseSync
  readonly #query: SumsQuery
  readonly #expired: () => boolean
  readonly #charges: ReadonlyMap<string, readonly Charge[]>
  readonly #endpoints: readonly Owned[]
  readonly #statements = new Map<string, StatementSync>()

  constructor(database: DatabaseSync, query: SumsQuery, expired: () => boolean) {
    this.#database = database
    this.#query = query
    this.#expired = expired
    const { accountId, endpointId, network, method } = query
    const charges = database
      .prepare(CHARGES)
      .all(accountId, endpointId, network, method) as unknown as readonly Charge[]
    const byEndpoint = new Map<string, Charge[]>()
    for (const charge of charges) {
      const own = byEndpoint.get(charge.endpoint)
      if (own === undefined) byEndpoint.set(charge.endpoint, [charge])
      else own.push(charge)
    }
    this.#charges = byEndpoint
    const known = database.prepare(ENDPOINTS).all(accountId, endpointId) as unknown as readonly Owned[]
    const owners = new Map([...known, ...charges].map(({ endpoint, account }) => [endpoint, account]))
    this.#endpoints = [...owners].map(([endpoint, account]) => ({ endpoint, account }))
  }

  /** The sums of the hours from `from` to before `to`, by these columns; throws TooManyGroups past `most`. */
  read(from: number, to: number, columns: readonly Column[], most = MAX_GROUPS): Groups {
    const groups = new Groups(most)
    for (const endpoint of this.#endpoints) {
      if (this.#expired()) throw new TookTooLong()
      if (columns.includes('reason')) this.#readReasons(endpoint, from, to, columns, groups)
      else this.#readAmounts(endpoint, from, to, columns, groups)
    }
    return groups
  }

  #readAmounts(endpoint: Owned, from: number, to: number, columns: readonly Column[], groups: Groups): void {
    const { detail } = this.#query
    const sums = detail ? `${AMOUNTS}, ${LATENCY}` : AMOUNTS
    for (const row of this.#rows('usage', sums, columns, [endpoint, from, to]))
      groups.add(valuesOf(row, endpoint, columns), detail ? amountsOf(row) : row)
    for (const { hour, calls, requests, ...charge } of this.#charges.get(endpoint.endpoint) ?? []) {
      if (hour < from || hour >= to) continue
      const time = hour - (hour % STEP[this.#query.by])
      groups.add(valuesOf({ ...charge, time }, endpoint, columns), { calls, requests })
    }
    if (!detail) return
    const withReason = [...columns, 'reason' as const]
    for (const row of this.#rows('refusals', REFUSED, withReason, [endpoint, from, to])) {
      // Hours become days in either table by its own time: a reason may be without its row for a moment.
      const group = groups.find(valuesOf(row, endpoint, columns))
      if (group !== null) addReason(group, row['reason'] as string, row['refusals'] as number)
    }
  }

  #readReasons(endpoint: Owned, from: number, to: number, columns: readonly Column[], groups: Groups): void {
    for (const row of this.#rows('refusals', REFUSED, columns, [endpoint, from, to]))
      groups.add(valuesOf(row, endpoint, columns), { refusals: row['refusals'] as number })
  }

  #rows(
    table: 'usage' | 'refusals',
    sums: string,
    columns: readonly Column[],
    [{ endpoint, account }, from, to]: readonly [Owned, number, number],
  ): readonly Row[] {
    const run = (byNetwork: boolean): Row[] => {
      const sql = sqlOf(table, sums, columns, this.#query.by, byNetwork)
      let statement = this.#statements.get(sql)
      if (statement === undefined) this.#statements.set(sql, (statement = this.#database.prepare(sql)))
      const { network, method } = this.#query
      return statement.all(endpoint, account, from, to, network, method) as Row[]
    }
    const rows = run(false)
    const isOnOne = rows.every(row => row['network'] === row['otherNetwork'])
    return isOnOne || !columns.includes('network') ? rows : run(true)
  }
}

const REFUSED = 'sum(count) AS refusals'

const GROUPED: Readonly<Partial<Record<Column, string>>> = { method: 'method', reason: 'reason' }

/** Most endpoints have been on one network only, so that grouping by it would sort for nothing: done where a row shows that there was another. */

function sqlOf(
  table: 'usage' | 'refusals',
  sums: string,
  columns: readonly Column[],
  by: SumsQuery['by'],
  byNetwork: boolean,
): string {
  // Rows of an endpoint are sorted by hour: grouping by the column itself needs no sorting.
  const time = by === 'hour' ? 'hour' : `hour - hour % ${STEP.day}`
  const grouped = columns.flatMap(column => (column === 'time' ? [time] : (GROUPED[column] ?? [])))
  const shown = columns.flatMap(column => (column === 'time' ? [`${time} AS time`] : (GROUPED[column] ?? [])))
  if (byNetwork) grouped.push('network')
  const groupBy = grouped.length === 0 ? '' : `GROUP BY ${grouped.join(', ')}`
  const networks = ['min(network) AS network', 'max(network) AS otherNetwork']
  return `SELECT ${[...shown, ...networks, sums].join(', ')} FROM ${table}
    WHERE endpoint = ?1 AND account = ?2 AND hour >= ?3 AND hour < ?4
      AND (?5 IS NULL OR network = ?5) AND (?6 IS NULL OR method = ?6) ${groupBy} HAVING count(*) > 0`
}

function amountsOf(row: Row): Partial<Amounts> {
  return { ...row, latency: JSON.parse(row['latency'] as string) as Latency }
}

function valuesOf(row: Row, owned: Owned, columns: readonly Column[]): GroupValues {
  return columns.map(column => (column === 'endpoint' || column === 'account' ? owned[column] : row[column]!))
}
