/** Housekeeping: what the cells hold goes into the tables, the journal is emptied behind it, and old hours become days. */
import type { Cells } from './cells.ts'
import type { UsageDatabase } from './database.ts'
import { rollUp } from './roll-up.ts'

/** Rows of old hours that one round makes days of: the thread that serves calls has other things to do. */
const ROLLED_UP = 500

/**
 * One round, over what there is when it begins, in slices of about `ms` milliseconds: it yields after each, and the file is whole there, so
 * that anything may happen in between, the end of the process included. A cell goes into the tables in one transaction with the number of its
 * place, up to which readers pass over what the journal says. So records may leave the journal later, when all of their cells are folded: those
 * that were there when the round began once the last place of that time is.
 */
export function* foldRound(database: UsageDatabase, cells: Cells, ms: number): Generator<void, void> {
  const { seq } = database
  const { last } = cells
  while ((cells.contents()[0]?.place ?? Infinity) <= last) {
    cells.release(database.fold(cells.contents(), ms))
    yield
  }
  while (database.trim(seq, ms)) yield
  // Whatever the journal still held would be read as folded, or not at all.
  if (cells.contents().length === 0 && database.seq === seq) {
    database.startAnew()
    cells.startAnew()
  }
  cells.forgetQuiet()
}

/** Makes days of old hours, in such slices. */
export function* rollUpRound(database: UsageDatabase, now: number, ms: number): Generator<void, void> {
  for (let rows = 0; rows < ROLLED_UP;) {
    const rolled = rollUp(database.database, now, ms)
    if (rolled === 0) return
    rows += rolled
    yield
  }
}
