/**
 * Adds up what the ledger and the journal hold of one account, or of all. It reads by endpoints, which is how the tables are sorted on disk: ten
 * times as fast as by account, and no statement takes long, so that a query can be ended between two of them.
 */
import type { DatabaseSync, StatementSync } from '../../driver.ts'
import { LATENCY_SUMS } from '../columns.ts'
import { daysUntil } from '../days.ts'
import { addReason } from './groups.ts'
import type { Amounts, Groups } from './groups.ts'
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

const AMOUNTS =
  'sum(calls) AS calls, sum(requests) AS requests, sum(errors) AS errors, sum(refusals) AS refusals'
/** The latency is one value of a row: thirteen would take longer to hand over than to add up. */
const DETAIL = `sum(bytes_out) AS bytesOut, sum(upstream_ms) AS upstreamMs,
  json_array(${LATENCY_SUMS.map(sum => `sum(${sum})`).join(', ')}) AS latency`
const REFUSED = 'sum(count) AS refusals'

const ENDPOINTS = `SELECT totals.endpoint, account, ${daysUntil('totals.endpoint')} AS days FROM day_progress CROSS JOIN totals
  WHERE (?1 IS NULL OR account = ?1) AND (?2 IS NULL OR totals.endpoint = ?2) ORDER BY days`
const CHARGES = `SELECT account, endpoint, network, method, hour, calls, requests FROM charges
  WHERE (?1 IS NULL OR account = ?1) AND (?2 IS NULL OR endpoint = ?2) AND (?3 IS NULL OR network = ?3) AND (?4 IS NULL OR method = ?4)`

/** Endpoints that one statement adds up at most, where they are not told apart. */
const TOGETHER = 20

/** An endpoint, whose it is, and before which hour there are days of it. */
interface Owned {
  readonly endpoint: string
  readonly account: string
  readonly days: number
}

/** What one statement reads: of some endpoints, a stretch of time, from days or from hours. */
interface Part {
  readonly owned: readonly Owned[]
  readonly step: keyof typeof STEP
  readonly from: number
  readonly to: number
}

/** Adds what one part holds to groups by these columns. */
type Pass = (part: Part, columns: readonly Column[], groups: Groups) => void

/** What there is to read for one query, as it is at one moment: a read transaction has to be open. */
export class Scan {
  readonly #database: DatabaseSync
  readonly #query: SumsQuery
  readonly #expired: () => boolean
  readonly #charges: readonly Charge[]
  readonly #endpoints: readonly Owned[]
  readonly #statements = new Map<string, StatementSync>()

  constructor(database: DatabaseSync, query: SumsQuery, expired: () => boolean) {
    this.#database = database
    this.#query = query
    this.#expired = expired
    const { accountId, endpointId, network, method } = query
    this.#charges = database.prepare(CHARGES).all(accountId, endpointId, network, method)
    this.#endpoints = database.prepare(ENDPOINTS).all(accountId, endpointId)
  }

  /** Adds the hours from `from` to before `to` to groups by these columns; of some endpoints only where `isAsked` says of which. */
  read<G extends Groups>(
    from: number,
    to: number,
    columns: readonly Column[],
    groups: G,
    isAsked: (endpoint: string) => boolean = () => true,
  ): G {
    const endpoints = this.#endpoints.filter(({ endpoint }) => isAsked(endpoint))
    const parts = [...this.#partsOf(endpoints, from, to, columns)]
    for (const add of this.#passesOf(columns))
      for (const part of parts) {
        if (this.#expired()) throw new TookTooLong()
        add(part, columns, groups)
      }
    if (columns.includes('reason')) return groups
    for (const { hour, calls, requests, ...charge } of this.#charges) {
      if (hour < from || hour >= to || !isAsked(charge.endpoint)) continue
      const row = { ...charge, time: hour - (hour % STEP[this.#query.by]) }
      groups.add(
        columns.map(column => row[column as keyof typeof row]),
        { calls, requests },
      )
    }
    return groups
  }

  *#partsOf(
    endpoints: readonly Owned[],
    from: number,
    to: number,
    columns: readonly Column[],
  ): Generator<Part> {
    const most = columns.includes('endpoint') || columns.includes('account') ? 1 : TOGETHER
    const isByHour = columns.includes('time') && this.#query.by === 'hour'
    const begin = Math.ceil(from / STEP.day) * STEP.day
    for (let i = 0; i < endpoints.length;) {
      const { days } = endpoints[i]!
      const owned = endpoints.slice(i, i + most).filter(one => one.days === days)
      i += owned.length
      // The days that are whole and made, unless hours are asked for, and the hours around them.
      const end = Math.min(Math.floor(to / STEP.day) * STEP.day, days)
      if (isByHour || begin >= end) yield { owned, step: 'hour', from, to }
      else {
        if (from < begin) yield { owned, step: 'hour', from, to: begin }
        yield { owned, step: 'day', from: begin, to: end }
        if (end < to) yield { owned, step: 'hour', from: end, to }
      }
    }
  }

  /** The passes over all parts. Reasons come last: the group of a reason may come from the amounts of another part. */
  #passesOf(columns: readonly Column[]): readonly Pass[] {
    if (columns.includes('reason')) return [this.#addRefusals]
    return this.#query.detail ? [this.#addAmounts, this.#addReasons] : [this.#addAmounts]
  }

  readonly #addAmounts: Pass = (part, columns, groups) => {
    const { detail } = this.#query
    const sums = detail ? `${AMOUNTS}, ${DETAIL}` : AMOUNTS
    for (const row of this.#rows('usage', sums, columns, part))
      groups.add(valuesOf(row, part, columns), detail ? amountsOf(row) : row)
  }

  readonly #addReasons: Pass = (part, columns, groups) => {
    for (const row of this.#rows('refusals', REFUSED, [...columns, 'reason'], part)) {
      // Hours become days in either table by its own time: a reason may be without its row for a moment.
      const group = groups.find(valuesOf(row, part, columns))
      if (group !== null) addReason(group, row['reason'] as string, row['refusals'] as number)
    }
  }

  readonly #addRefusals: Pass = (part, columns, groups) => {
    for (const row of this.#rows('refusals', REFUSED, columns, part))
      groups.add(valuesOf(row, part, columns), { refusals: row['refusals'] as number })
  }

  #rows(table: 'usage' | 'refusals', sums: string, columns: readonly Column[], part: Part): readonly Row[] {
    const { owned, step, from, to } = part
    const { by, network, method } = this.#query
    const isOne = owned.length === 1
    const sql = sqlOf(step === 'day' ? `${table}_day` : table, sums, columns, {
      // Rows are sorted by hour: grouping one endpoint's by the column itself needs no sorting.
      time: by === step || step === 'day' ? 'hour' : `hour - hour % ${STEP.day}`,
      isOne,
    })
    let statement = this.#statements.get(sql)
    if (statement === undefined) this.#statements.set(sql, (statement = this.#database.prepare(sql)))
    const endpoints = isOne ? owned[0]!.endpoint : JSON.stringify(owned.map(({ endpoint }) => endpoint))
    return statement.all(endpoints, from, to, network, method) as Row[]
  }
}

const GROUPED: Readonly<Partial<Record<Column, string>>> = {
  network: 'network',
  method: 'method',
  reason: 'reason',
}

function sqlOf(
  table: string,
  sums: string,
  columns: readonly Column[],
  { time, isOne }: { readonly time: string; readonly isOne: boolean },
): string {
  const grouped = columns.flatMap(column => (column === 'time' ? time : (GROUPED[column] ?? [])))
  const shown = columns.flatMap(column => (column === 'time' ? `${time} AS time` : (GROUPED[column] ?? [])))
  const rows = isOne
    ? `${table} WHERE endpoint = ?1`
    : `json_each(?1) AS one CROSS JOIN ${table} WHERE endpoint = one.value`
  // Without groups there is a row of nothing.
  const groupBy = grouped.length === 0 ? 'HAVING count(*) > 0' : `GROUP BY ${grouped.join(', ')}`
  return `SELECT ${[...shown, sums].join(', ')} FROM ${rows} AND hour >= ?2 AND hour < ?3
    AND (?4 IS NULL OR network = ?4) AND (?5 IS NULL OR method = ?5) ${groupBy}`
}

function amountsOf(row: Row): Partial<Amounts> {
  return { ...row, latency: JSON.parse(row['latency'] as string) as Latency }
}

function valuesOf(row: Row, { owned: [first] }: Part, columns: readonly Column[]): GroupValues {
  return columns.map(column =>
    column === 'endpoint' || column === 'account' ? first![column] : row[column]!,
  )
}
