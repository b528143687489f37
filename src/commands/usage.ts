/** `tollgate usage`: what was used, for a look or for a bill. */
import { detailedRows } from '../usage/detail.ts'
import type { DetailedRow } from '../usage/detail.ts'
import { openUsageReader } from '../usage/reader.ts'
import type { OpenReader } from '../usage/reader.ts'
import type { UsageQuery, UsageRow } from '../usage/types.ts'
import { readArguments, UsageError } from './command.ts'
import type { Arguments, Command, Io } from './command.ts'
import { loadOrThrow } from './load.ts'
import { moment, table } from './table.ts'

const DAY = 86_400
/** Milliseconds between two words about a long export, and rows between two looks at the clock. */
const TELL_EVERY = 2_000
const ROWS_A_LOOK = 1_000

export const usage: Command = {
  usage: `tollgate usage [--account ID] [--from T] [--to T] [--by hour|day] [--detail] [--csv] [--config DIR] [--json]

T is a date (2026-11-20), a time in UTC (2026-11-20T14:00) or Unix seconds. Default: the last 30 days, by day.
--from is inclusive, --to is not. Requests are the billed units; refusals are free. --detail adds the bytes of replies, the
time that upstreams took and the reasons of refusals. Hours are kept for 90 days; of older days there is one row, at 00:00.`,

  async run(args, io) {
    const options = {
      account: 'string',
      from: 'string',
      to: 'string',
      by: 'string',
      detail: 'boolean',
      csv: 'boolean',
    } as const
    const parsed = readArguments(args, [], options)
    const query = queryOf(parsed)
    const snapshot = await loadOrThrow(parsed.config, io)
    const reader = openUsageReader(snapshot.gateway.dataDir)
    const detail = parsed.given['detail'] === true
    try {
      const rows = rowsOf(reader, query, detail, progressOn(io))
      if (parsed.json) printJson(io, rows)
      else if (parsed.given['csv'] === true) printCsv(io, rows, detail)
      else for (const line of forPerson([...rows], detail)) io.out(line)
    } finally {
      reader.close()
    }
    return 0
  },
}

function queryOf({ given }: Arguments): UsageQuery {
  const { account, by = 'day', from, to } = given
  if (by !== 'hour' && by !== 'day') throw new UsageError('--by has to be hour or day')
  const end = timeOf(to, '--to') ?? Math.floor(Date.now() / 1000) + 1
  const begin = timeOf(from, '--from') ?? end - 30 * DAY
  if (begin >= end) throw new UsageError('--from has to be before --to')
  return { from: begin, to: end, by, ...(typeof account === 'string' ? { accountId: account } : {}) }
}

function timeOf(given: string | boolean | undefined, name: string): number | null {
  if (typeof given !== 'string') return null
  if (/^\d{6,}$/.test(given)) return Number(given)
  const zoned = /^\d{4}-\d{2}-\d{2}T[\d:]+$/.test(given) ? `${given}Z` : given
  const time = Date.parse(zoned) / 1000
  if (!Number.isFinite(time)) throw new UsageError(`${name} has to be a date, a time or Unix seconds`)
  return Math.floor(time)
}

type Row = UsageRow & Partial<DetailedRow>

/** The rows day by day: a long read at once would keep the gateway's log from being written back. */
function* rowsOf(
  reader: OpenReader,
  query: UsageQuery,
  detail: boolean,
  progress: (rows: number) => void,
): Generator<Row> {
  const begin = Math.max(query.from, reader.oldest() ?? query.to)
  let count = 0
  for (let from = begin; from < query.to; from = Math.floor(from / DAY) * DAY + DAY) {
    const slice = { ...query, from, to: Math.min(query.to, Math.floor(from / DAY) * DAY + DAY) }
    for (const row of detail ? detailedRows(reader, slice) : reader.rows(slice)) {
      yield row
      count += 1
      if (count % ROWS_A_LOOK === 0) progress(count)
    }
  }
}

/** Tells on stderr how far a long export has come. */
function progressOn(io: Io): (rows: number) => void {
  let told = Date.now()
  return rows => {
    if (Date.now() - told < TELL_EVERY) return
    told = Date.now()
    io.err(`tollgate: ${rows} rows so far`)
  }
}

const COLUMNS = [
  'time',
  'accountId',
  'endpointId',
  'network',
  'method',
  'calls',
  'requests',
  'errors',
  'refusals',
] as const

/** One JSON array, written as the rows come. */
function printJson(io: Io, rows: Iterable<Row>): void {
  let last: string | null = null
  for (const row of rows) {
    io.out(last === null ? '[' : `${last},`)
    const told = { ...Object.fromEntries(COLUMNS.map(column => [column, row[column]])), ...detailOf(row) }
    last = `  ${JSON.stringify(told)}`
  }
  io.out(last === null ? '[]' : `${last}\n]`)
}

function detailOf({ bytesOut, upstreamMs, refusalsByReason }: Row): object {
  return refusalsByReason === undefined ? {} : { bytesOut, upstreamMs, refusalsByReason }
}

/** RFC 4180; no value can hold a comma, quote or line break. */
function printCsv(io: Io, rows: Iterable<Row>, detail: boolean): void {
  io.out([...COLUMNS, ...(detail ? ['bytesOut', 'upstreamMs', 'refusalsByReason'] : [])].join(','))
  for (const row of rows)
    io.out([...COLUMNS.map(column => String(row[column])), ...(detail ? detailCells(row) : [])].join(','))
}

function detailCells({ bytesOut = 0, upstreamMs = 0, refusalsByReason = {} }: Row): (string | number)[] {
  const reasons = Object.entries(refusalsByReason).map(([reason, count]) => `${reason}:${count}`)
  return [bytesOut, upstreamMs, reasons.join(' ')]
}

function forPerson(rows: readonly Row[], detail: boolean): string[] {
  if (rows.length === 0) return ['nothing was used in that time']
  const headings = [
    'TIME',
    'ACCOUNT',
    'ENDPOINT',
    'NETWORK',
    'METHOD',
    'CALLS',
    'REQUESTS',
    'ERRORS',
    'REFUSALS',
  ]
  return table(
    [...headings, ...(detail ? ['BYTES', 'UPSTREAM MS', 'REFUSED FOR'] : [])],
    rows.map(row => [
      ...COLUMNS.map(column => (column === 'time' ? moment(row.time) : row[column])),
      ...(detail ? detailCells(row) : []),
    ]),
  )
}
