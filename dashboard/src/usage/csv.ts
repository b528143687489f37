/** Rows of the ledger as a CSV file (RFC 4180). */
import type { UsageRow } from '../api/types.ts'
import { isoTime } from '../text/time.ts'

const COLUMNS = [
  'time',
  'endpoint_id',
  'endpoint',
  'network',
  'method',
  'calls',
  'requests',
  'errors',
  'refusals',
]

/** The text of the file. */
export function toCsv(rows: readonly UsageRow[], nameOf: (endpointId: string) => string): string {
  const lines = rows.map(row => [
    ...[isoTime(row.time), row.endpointId, nameOf(row.endpointId), row.network, row.method],
    ...[row.calls, row.requests, row.errors, row.refusals],
  ])
  return [COLUMNS, ...lines].map(line => `${line.map(cell).join(',')}\r\n`).join('')
}

/** A name that begins like a formula would be run by a spreadsheet. */
function cell(value: string | number): string {
  const text = typeof value === 'string' && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value)
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
