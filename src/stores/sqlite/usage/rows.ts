/** Rows of the ledger, one by one, for readers in other processes: there may be more than fit in memory. */
import type { DatabaseSync } from '../driver.ts'
import { shownLatency } from '../../../ports/latency.ts'
import type { Latency } from '../../../ports/latency.ts'
import { LATENCY_SUMS } from './columns.ts'
import type { OtherJournals } from './journals/outside.ts'
import type {
  DetailedRow,
  LinesQuery,
  UsageDetail,
  UsageLine,
  UsageQuery,
  UsageRow,
  UsedWindow,
} from '../../../ports/ledger.ts'

/**
 * Tables of the reader's own, on disk where they are large. They hold what a query has found, so that the file is read at once and not for as long as
 * somebody takes the rows: a read that lasts keeps the gateway's log from being written back.
 */
const TABLES = `CREATE TEMP TABLE found (
    place INTEGER PRIMARY KEY, time INTEGER, accountId TEXT, endpointId TEXT, network TEXT, method TEXT,
    calls INTEGER, requests INTEGER, errors INTEGER, refusals INTEGER, bytesOut INTEGER, upstreamMs INTEGER,
    ${LATENCY_SUMS.join(', ')}
  );
  CREATE TEMP TABLE reasons (
    time INTEGER, endpointId TEXT, method TEXT, network TEXT, reason TEXT, refusals INTEGER,
    PRIMARY KEY (time, endpointId, method, network, reason)
  ) WITHOUT ROWID`

const LINES = `CREATE TEMP TABLE line (
    place INTEGER PRIMARY KEY, accountId TEXT, plan TEXT, "of", calls INTEGER, requests INTEGER, errors INTEGER, refusals INTEGER
  )`

const FORGET = 'DELETE FROM temp.found; DELETE FROM temp.reasons'

const ROWS =
  'time, accountId, endpointId, network, method, calls, requests, errors, refusals, bytesOut, upstreamMs'

const LATENCY = `json_array(${LATENCY_SUMS.join(', ')}) AS counts`

const REASONS = `(
    SELECT json_group_object(reason, refusals ORDER BY reason) FROM temp.reasons
    WHERE reasons.time = found.time AND reasons.endpointId = found.endpointId AND reasons.method = found.method
      AND reasons.network = found.network
  ) AS reasons`

/** Rows that are in memory at a time. Not one by one: an open iterator must not outlive its statement, which may be collected as garbage. */
const PAGE = 500

/** Reads for one question at a time. */
export class RowReader {
  readonly #database: DatabaseSync
  #isReady = false
  #hasLines = false

  readonly #others: OtherJournals

  constructor(database: DatabaseSync, others: OtherJournals) {
    this.#database = database
    this.#others = others
  }

  /** By hour or day (UTC), oldest first. */
  *rows(query: UsageQuery): Generator<UsageRow & UsageDetail> {
    this.#find(query, false)
    yield* this.#found<UsageRow & UsageDetail>(ROWS)
  }

  /** The same, with why calls were refused and how long upstreams took. */
  *detailedRows(query: UsageQuery): Generator<DetailedRow> {
    this.#find(query, true)
    type Row = UsageRow & UsageDetail & { readonly reasons: string; readonly counts: string }
    for (const { reasons, counts, ...row } of this.#found<Row>(`${ROWS}, ${REASONS}, ${LATENCY}`))
      yield {
        ...row,
        refusalsByReason: JSON.parse(reasons) as DetailedRow['refusalsByReason'],
        latency: shownLatency(JSON.parse(counts) as Latency),
      }
  }

  /** Sums by account, plan and split, in this order. */
  *lines({ split, ...query }: LinesQuery): Generator<UsageLine> {
    const { where, values } = conditions(query)
    const of = split === null ? "''" : SPLIT[split]
    const database = this.#database
    if (!this.#hasLines) database.exec(LINES)
    this.#hasLines = true
    this.#others.at(() => {
      database.exec('DELETE FROM temp.line')
      database
        .prepare(
          `INSERT INTO temp.line (accountId, plan, "of", calls, requests, errors, refusals)
           SELECT account, plan, ${of} AS split, sum(calls), sum(requests), sum(errors), sum(refusals)
           FROM usage_now WHERE ${where} GROUP BY account, plan, split ORDER BY account, plan, split`,
        )
        .run(...values)
    })
    yield* this.#pages<UsageLine>('accountId, plan, "of", calls, requests, errors, refusals', 'line')
  }

  /** What was used of quota windows. */
  windows({ accountId, from, to }: Pick<LinesQuery, 'accountId' | 'from' | 'to'>): readonly UsedWindow[] {
    return this.#others.at(
      () =>
        this.#database
          .prepare(
            `SELECT account AS accountId, start, sum(requests) AS requests FROM windows_now
             WHERE start >= ?1 AND start < ?2 AND (?3 IS NULL OR account = ?3) GROUP BY account, start ORDER BY account, start`,
          )
          .all(from, to, accountId ?? null) as unknown as readonly UsedWindow[],
    )
  }

  #found<T>(columns: string): Generator<T> {
    return this.#pages<T>(columns, 'found')
  }

  *#pages<T>(columns: string, table: string): Generator<T> {
    const page = this.#database.prepare(
      `SELECT ${columns} FROM temp.${table} WHERE place > ? ORDER BY place LIMIT ${PAGE}`,
    )
    // Places begin with 1, and none is left out.
    for (let last = 0; ;) {
      const rows = page.all(last) as T[]
      if (rows.length === 0) return
      yield* rows
      last += rows.length
    }
  }

  /** Both at one moment. */
  #find(query: UsageQuery, isDetailed: boolean): void {
    const database = this.#database
    if (!this.#isReady) database.exec(TABLES)
    this.#isReady = true
    const { where, values } = conditions(query)
    const time = TIME[query.by]
    const latency = isDetailed ? LATENCY_SUMS : []
    this.#others.at(() => {
      database.exec(FORGET)
      database
        .prepare(
          `INSERT INTO temp.found (${[ROWS, ...latency].join(', ')})
           SELECT ${time} AS time, account, endpoint, network, method, sum(calls), sum(requests), sum(errors), sum(refusals),
             ${['bytes_out', 'upstream_ms', ...latency].map(sum => `sum(${sum})`).join(', ')}
           FROM usage_now WHERE ${where}
           GROUP BY time, account, endpoint, network, method ORDER BY time, account, endpoint, method, network`,
        )
        .run(...values)
      if (isDetailed)
        database
          .prepare(
            `INSERT INTO temp.reasons
             SELECT ${time} AS time, endpoint, method, network, reason, sum(count) FROM refusals WHERE ${where}
             GROUP BY time, endpoint, method, network, reason`,
          )
          .run(...values)
    })
  }
}

/** The hours that a query asks for: from the first to before the other. */
function hoursOf({ from, to }: Pick<UsageQuery, 'from' | 'to'>): readonly [number, number] {
  return [Math.floor(from / 3600) * 3600, to]
}

/** The beginning of a row's time, in SQL. */
const TIME = {
  hour: 'hour',
  day: 'hour - hour % 86400',
  month: "CAST(strftime('%s', hour, 'unixepoch', 'start of month') AS INTEGER)",
} as const

const SPLIT = { endpoint: 'endpoint', network: 'network', method: 'method', day: TIME.day } as const

/** What a query says in SQL. */
function conditions(query: Omit<UsageQuery, 'by'>): {
  readonly where: string
  readonly values: readonly (string | number)[]
} {
  const where = ['hour >= ?', 'hour < ?']
  const values: (string | number)[] = [...hoursOf(query)]
  for (const [column, value] of [
    ['account', query.accountId],
    ['endpoint', query.endpointId],
  ] as const)
    if (value !== undefined) {
      where.push(`${column} = ?`)
      values.push(value)
    }
  return { where: where.join(' AND '), values }
}
