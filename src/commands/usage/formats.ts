/** Usage as `tollgate usage` prints it, line by line: there may be more than fits in memory. */
import type { DetailedRow, UsageRow } from '../../ports/ledger.ts'
import { isoTime, moment, tableInBlocks } from '../output/table.ts'

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

function detailOf({ bytesOut, upstreamMs, refusalsByReason, latency }: Row): object {
  return refusalsByReason === undefined ? {} : { bytesOut, upstreamMs, refusalsByReason, latency }
}

/** RFC 4180, with times in ISO 8601; no value can hold a comma, quote or line break. */
export function* csvLines(rows: Iterable<Row>, detail: boolean): Generator<string> {
  yield [
    ...COLUMNS,
    ...(detail ? ['bytesOut', 'upstreamMs', 'refusalsByReason', 'p50Ms', 'p95Ms'] : []),
  ].join(',')
  for (const row of rows)
    yield [
      ...COLUMNS.map(column => (column === 'time' ? isoTime(row.time) : String(row[column]))),
      ...(detail ? detailCells(row) : []),
    ].join(',')
}

/** Without latency, of calls that no upstream was waited for, its cells are empty. */
function detailCells({ latency, ...row }: Row): (string | number)[] {
  const { bytesOut = 0, upstreamMs = 0, refusalsByReason = {} } = row
  const reasons = Object.entries(refusalsByReason).map(([reason, count]) => `${reason}:${count}`)
  return [bytesOut, upstreamMs, reasons.join(' '), latency?.p50 ?? '', latency?.p95 ?? '']
}

const HEADINGS = [
  'TIME',
  'ACCOUNT',
  'ENDPOINT',
  'NETWORK',
  'METHOD',
  'CALLS',
  'REQUEST UNITS',
  'ERRORS',
  'REFUSALS',
] as const

/** A table for a person. */
export function* tableLines(rows: Iterable<Row>, detail: boolean): Generator<string> {
  const headings = [...HEADINGS, ...(detail ? ['BYTES', 'UPSTREAM MS', 'REFUSED FOR', 'P50', 'P95'] : [])]
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

/** Members of lines that are times. */
const TIMES = new Set(['from', 'to', 'start', 'end'])

/** A line of a bill: members by their names. */
type Line = object

/** One JSON array of lines as they are. */
export function* jsonOfLines(lines: Iterable<Line>): Generator<string> {
  let last: string | null = null
  for (const line of lines) {
    yield last === null ? '[' : `${last},`
    last = `  ${JSON.stringify(line)}`
  }
  yield last === null ? '[]' : `${last}\n]`
}

/** RFC 4180, with times in ISO 8601; names may hold anything that is printable. */
export function* csvOfLines(columns: readonly string[], lines: Iterable<Line>): Generator<string> {
  yield columns.join(',')
  for (const line of lines) {
    const values = line as Readonly<Record<string, string | number | null | undefined>>
    yield columns.map(column => csvCell(column, values[column] ?? '')).join(',')
  }
}

function csvCell(column: string, value: string | number): string {
  if (typeof value === 'number') return TIMES.has(column) ? isoTime(value) : String(value)
  // A spreadsheet would take a name that begins so for a formula.
  const text = /^[=+\-@]/.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** Columns of a table: what they are headed by, and the member that stands there. */
export type Columns = Readonly<Record<string, string>>

/** A table for a person, with sums of the numbers below it. */
export function* tableOfLines(
  columns: Columns,
  sums: readonly string[],
  lines: Iterable<Line>,
): Generator<string> {
  const headings = Object.keys(columns)
  const members = Object.values(columns)
  const total = new Map<string, number>(sums.map(name => [name, 0]))
  let count = 0
  const cells = function* (): Generator<(string | number)[]> {
    for (const line of lines) {
      const values = line as Readonly<Record<string, string | number | null | undefined>>
      count += 1
      for (const name of sums) total.set(name, total.get(name)! + Number(values[name] ?? 0))
      yield members.map(name => {
        const value = values[name] ?? '-'
        return TIMES.has(name) && typeof value === 'number' ? moment(value) : value
      })
    }
    if (count > 1) yield members.map((name, i) => total.get(name) ?? (i === 0 ? 'TOTAL' : ''))
  }
  const all = tableInBlocks(headings, cells())
  const head = all.next()
  const first = all.next()
  if (head.done === true || first.done === true) {
    yield 'no usage in this period'
    return
  }
  yield head.value
  yield first.value
  yield* all
}
