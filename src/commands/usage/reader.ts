/** What commands read of usage: of this machine, or of all that share a PostgreSQL. */
import { StoreUnavailable } from '../../ports/store-unavailable.ts'
import { openUsageReader } from '../../stores/sqlite/usage/reader.ts'
import type { OpenReader } from '../../stores/sqlite/usage/reader.ts'
import type { Reading } from '../../stores/postgres/usage/reader.ts'
import { SILENT } from '../../http/admin/find-gateway.ts'
import { askRunning, postAdmin } from '../ask-running.ts'
import type { Io } from '../command.ts'
import type { Known } from '../known.ts'

/** Milliseconds that a gateway gets to report what it has charged. */
const TO_REPORT = 10_000
/** Any quota window. */
export const EVERY_WINDOW = { from: 0, to: 2 ** 40 }

/** Opens it for what a command asks. Says on stderr what is missing. */
export async function openReaderOf(known: Known, io: Io, reading: Reading): Promise<OpenReader> {
  const { dataDir, postgres } = known.gateway
  if (postgres === null) return openUsageReader(dataDir)
  const told = await askRunning(known, admin => postAdmin<{ sent: boolean }>(admin, '/spool', {}, TO_REPORT))
  if (told === null) {
    const { silent } = await known.around()
    const why = silent === null ? 'no gateway runs here' : SILENT
    io.err(`tollgate: ${why}: what it had not yet reported to PostgreSQL is missing`)
  }
  const { openFleetReader } = await import('../../stores/postgres/usage/reader.ts')
  try {
    const reader = await openFleetReader(postgres, reading)
    if (told?.sent === false)
      io.err('tollgate: warning: the gateway could not report its latest usage to PostgreSQL; it is missing')
    return reader
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error
    io.err(`tollgate: warning: ${error.message}; this is what this machine has served alone`)
    return openUsageReader(dataDir)
  }
}
