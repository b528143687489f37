/** Reads usage from another process than the gateway's. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from '../driver.ts'
import { explainFailure } from '../error.ts'
import { refuseLoneLog } from '../place.ts'
import { isEmpty, isOurs, refuseOtherVersion } from '../schema.ts'
import { journalFile } from './schema.ts'
import { OtherJournals } from './journals/outside.ts'
import { readOldest, readTotals } from './read.ts'
import { RowReader } from './rows.ts'
import type { UsageReader } from '../../../ports/ledger.ts'

/** Milliseconds that a read waits for a checkpoint of the gateway to end. */
const PATIENCE = 5_000

/** A reader that is open. */
export interface OpenReader extends UsageReader {
  /** The hour of the oldest row; null on an empty ledger. */
  oldest(): number | null
  close(): void
}

const nothing: OpenReader = {
  totals: () => new Map(),
  rows: () => [],
  detailedRows: () => [],
  lines: () => [],
  windows: () => [],
  oldest: () => null,
  close: () => undefined,
}

/** Opens journal.db for reading; there is nothing to read before the first `serve`. A failure is one sentence. */
export function openUsageReader(dataDir: string): OpenReader {
  const file = join(dataDir, journalFile.name)
  try {
    refuseLoneLog(file)
    if (!existsSync(file)) return nothing
    const database = new DatabaseSync(file, { readOnly: true, timeout: PATIENCE })
    if (isEmpty(database)) {
      database.close()
      return nothing
    }
    if (!isOurs(database, journalFile)) throw new Error(`${file} is a database of another program`)
    refuseOtherVersion(database, journalFile)
    const others = new OtherJournals(database, dataDir, PATIENCE)
    const rows = new RowReader(database, others)
    return {
      totals: accountId => others.at(() => readTotals(database, 'totals_now', accountId)),
      rows: query => rows.rows(query),
      detailedRows: query => rows.detailedRows(query),
      lines: query => rows.lines(query),
      windows: query => rows.windows(query),
      oldest: () => others.at(() => readOldest(database)),
      close: () => {
        database.close()
      },
    }
  } catch (error) {
    throw explainFailure(file, error)
  }
}
