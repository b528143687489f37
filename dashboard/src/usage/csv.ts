/** Rows of the ledger as a CSV file (RFC 4180). */
import type { UsageRow } from '../api/types.ts'
import { isoTime } from '../text/time.ts'
import type { Split } from './choice.ts'

const AMOUNTS = ['calls', 'requests', 'errors', 'refusals', 'upstream_ms', 'p50_ms', 'p95_ms']

/** The text of the file: a line for each step and group; an endpoint has its id and its name. */
export function toCsv(
  rows: readonly UsageRow[],
  split: Split,
  nameOf: (endpointId: string) => string,
): string {
  const head = ['time', ...(split === 'endpoint' ? ['endpoint_id', 'endpoint'] : [split])]
  const amounts = split === 'reason' ? ['refusals'] : AMOUNTS
  const lines = rows.map(row => [
    isoTime(row.time),
    ...(split === 'endpoint' ? [row.endpointId, nameOf(row.endpointId)] : [row[split] ?? '']),
    ...(split === 'reason'
      ? [row.refusals]
      : [row.calls, row.requests, row.errors, row.refusals, row.upstreamMs ?? 0, ...percentiles(row)]),
  ])
  return [[...head, ...amounts], ...lines].map(line => `${line.map(cell).join(',')}\r\n`).join('')
}

/** Empty where it is not known how long nodes took. */
const percentiles = ({ latency }: UsageRow) => [latency?.p50 ?? '', latency?.p95 ?? '']

/** A name that begins like a formula would be run by a spreadsheet. */
function cell(value: string | number): string {
  const text = typeof value === 'string' && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value)
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
