/** Usage as `tollgate usage --format stripe` prints it: an event a line. */
import type { Names } from '../../stores/sqlite/accounts/names.ts'
import type { OpenReader } from '../../stores/sqlite/usage/reader.ts'
import type { Io } from '../command.ts'
import { isoTime } from '../output/table.ts'
import { meterEvents } from './bill.ts'
import type { WithoutEvents } from './bill.ts'
import type { Span } from './period.ts'

/** The events of a span; what has none is reported on stderr behind them. */
export function* stripeLines(
  reader: OpenReader,
  names: Names,
  span: Span,
  account: string | undefined,
  io: Io,
): Generator<string> {
  const without: WithoutEvents = { unknown: new Set(), open: null }
  for (const event of meterEvents(reader, names, span, Date.now(), without, account))
    yield JSON.stringify(event)
  if (without.unknown.size > 0) io.err(noCustomers([...without.unknown]))
  if (without.open !== null) io.err(notOver(without.open))
}

function noCustomers(ids: readonly string[]): string {
  const some = ids.slice(0, 5).join(', ')
  const more = ids.length > 5 ? ` and ${ids.length - 5} more` : ''
  return `tollgate: warning: without a Stripe customer, and so without events: ${some}${more}; name it with tollgate account label ID --set stripe=cus_…`
}

function notOver(day: number): string {
  return `tollgate: note: the events of ${isoTime(day).slice(0, 10)} are printed when it has been over for an hour (UTC)`
}
