/** Usage as `tollgate usage` prints it, line by line: there may be more than fits in memory. */
import type { DetailedRow, UsageRow } from '../ports/ledger.ts'
import { isoTime, moment, tableInBlocks } from './output/table.ts'

/** A row, with all that is kept of it or without. */
export type Row = UsageRow & Partial<DetailedRow>

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

/** One JSON array. */
export function* jsonLines(rows: Iterable<Row>): Generator<string> {
  let last: string | null = null
  for (const row of rows) {
    yield last === null ? '[' : `${last},`
    const told = { ...Object.fromEntries(COLUMNS.map(column => [column, row[column]])), ...detailOf(row) }
    last = `  ${JSON.stringify(told)}`
  }
  yield last === null ? '[]' : `${last}\n]`
}

function detailOf({ bytesOut, upstreamMs, refusalsByReason }: Row): object {
  return refusalsByReason === undefined ? {} : { bytesOut, upstreamMs, refusalsByReason }
}

/** RFC 4180, with times in ISO 8601; no value can hold a comma, quote or line break. */
export function* csvLines(rows: Iterable<Row>, detail: boolean): Generator<string> {
  yield [...COLUMNS, ...(detail ? ['bytesOut', 'upstreamMs', 'refusalsByReason'] : [])].join(',')
  for (const row of rows)
    yield [
      ...COLUMNS.map(column => (column === 'time' ? isoTime(row.time) : String(row[column]))),
      ...(detail ? detailCells(row) : []),
    ].join(',')
}

function detailCells({ bytesOut = 0, upstreamMs = 0, refusalsByReason = {} }: Row): (string | number)[] {
  const reasons = Object.entries(refusalsByReason).map(([reason, count]) => `${reason}:${count}`)
  return [bytesOut, upstreamMs, reasons.join(' ')]
}

const HEADINGS = [
  'TIME',
  'ACCOUNT',
  'ENDPOINT',
  'NETWORK',
  'METHOD',
  'CALLS',
  'REQUESTS',
  'ERRORS',
  'REFUSALS',
] as const

/** A table for a person. */
export function* tableLines(rows: Iterable<Row>, detail: boolean): Generator<string> {
  const headings = [...HEADINGS, ...(detail ? ['BYTES', 'UPSTREAM MS', 'REFUSED FOR'] : [])]
  const cells = function* (): Generator<(string | number)[]> {
    for (const row of rows)
      yield [
        ...COLUMNS.map(column => (column === 'time' ? moment(row.time) : row[column])),
        ...(detail ? detailCells(row) : []),
      ]
  }
  const lines = tableInBlocks(headings, cells())
  const [head, first] = [lines.next(), lines.next()]
  if (head.done === true || first.done === true) {
    yield 'no usage in this period'
    return
  }
  yield head.value
  yield first.value
  yield* lines
}
