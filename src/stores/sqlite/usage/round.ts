/** Housekeeping: what the counters hold goes into the tables, the journal is emptied behind it, and old hours become days. */
import type { UsageCounters } from './counters.ts'
import type { UsageDatabase } from './database.ts'
import type { Days } from './days.ts'
import { isWholeReportDue } from './reports/changes.ts'
import { rollUp } from './roll-up.ts'

/** Rows of old hours that one round makes days of: the thread that serves calls has other things to do. */
const ROLLED_UP = 500
/** Milliseconds for which one round makes days of hours that are over. */
const SUMMED_UP = 40

/**
 * One round, over what there is when it begins, in slices of about `ms` milliseconds: it yields after each, and the file is whole there, so
 * that anything may happen in between, the end of the process included. A counter goes into the tables in one transaction with the number of its
 * place, up to which readers pass over what the journal says. So records may leave the journal later, when all of their counters are folded: those
 * that were there when the round began once the last place of that time is.
 */
export function* foldRound(
  database: UsageDatabase,
  counters: UsageCounters,
  ms: number,
): Generator<void, void> {
  const { seq } = database
  const { last } = counters
  while ((counters.contents()[0]?.place ?? Infinity) <= last) {
    counters.release(database.fold(counters.contents(), ms))
    yield
  }
  while (database.trim(seq, ms)) yield
  // Whatever the journal still held would be read as folded, or not at all.
  if (counters.contents().length === 0 && database.seq === seq) {
    database.startAnew()
    counters.startAnew()
  }
  counters.forgetQuiet()
}

/** Makes days of old hours, in such slices. */
export function* rollUpRound(database: UsageDatabase, now: number, ms: number): Generator<void, void> {
  if (isWholeReportDue(database.database)) return
  for (let rows = 0; rows < ROLLED_UP;) {
    const rolled = rollUp(database.database, now, ms)
    if (rolled === 0) return
    rows += rolled
    yield
  }
}

/** Sums up the days that are over, in such slices. */
export function* dayRound(days: Days, now: number, ms: number): Generator<void, void> {
  for (let spent = 0; spent < SUMMED_UP && days.make(now, ms); spent += ms) yield
}
