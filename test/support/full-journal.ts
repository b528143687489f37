import { DatabaseSync } from '../../src/stores/sqlite/driver.ts'

/** What a journal is filled with. */
export interface Filling {
  /** Until it is so large, in MiB of records. */
  readonly mib: number
  /** Charges of a record. */
  readonly entries: number
  /** Counters that they are of, in turn. */
  readonly counters: number
  /** Whose they are; default: of an account for each counter. */
  readonly account?: string
  readonly endpoint?: string
}

/** Places of counters that its worker does not come to. */
const FIRST_PLACE = 1_000_001

/** Adds charges of a unit each to the journal of a worker, as it writes them itself, before those that are there; returns how many calls these are. */
export function fillJournal(file: string, { mib, entries, counters, account, endpoint }: Filling): number {
  const database = new DatabaseSync(file, { timeout: 5_000 })
  database.exec('PRAGMA synchronous = OFF')
  const insert = database.prepare('INSERT INTO journal VALUES (?, ?)')
  const hour = Math.floor(Date.now() / 3_600_000) * 3_600
  const most = mib * 1024 ** 2
  // Behind what the worker has written nobody would look for room: its own numbers begin with 1.
  let seq = -(2 ** 40)
  let [bytes, calls] = [0, 0]
  const entryOf = (n: number): unknown[] => {
    const place = FIRST_PLACE + (n % counters)
    if (n >= counters) return [place, 1, 1]
    const own = String(n).padStart(8, '0')
    return [
      place,
      1,
      1,
      account ?? `acc_${own}`,
      endpoint ?? `ep_${own}`,
      'alpha',
      `m${n % 100}`,
      hour,
      0,
      'paid',
    ]
  }
  database.exec('BEGIN')
  while (bytes < most) {
    const record = JSON.stringify(Array.from({ length: entries }, (_, i) => entryOf(calls + i)))
    insert.run((seq += 1), record)
    calls += entries
    bytes += record.length
  }
  database.exec('COMMIT')
  database.close()
  return calls
}
