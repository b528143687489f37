/** Reads usage from another process than the gateway's. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { journalFile } from './schema.ts'
import { readRows, readTotals } from './read.ts'
import type { UsageReader } from './types.ts'

/** Milliseconds that a read waits for a checkpoint of the gateway to end. */
const PATIENCE = 5_000

/** Opens journal.db for reading; there is nothing to read before the first `serve`. */
export function openUsageReader(dataDir: string): UsageReader & { close(): void } {
  const file = join(dataDir, journalFile.name)
  if (!existsSync(file)) return { totals: () => new Map(), rows: () => [], close: () => undefined }
  const database = new DatabaseSync(file, { readOnly: true, timeout: PATIENCE })
  return {
    totals: accountId => readTotals(database, accountId),
    rows: query => readRows(database, query),
    close: () => {
      database.close()
    },
  }
}
