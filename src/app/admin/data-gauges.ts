/** What of the data directory an operator watches. */
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Metrics } from '../../observe/metrics.ts'

/** Databases with their logs: journals of workers have a name of their own for each life. */
const DATABASE = /^(accounts|journal(?:-\d+)?)(?:-[0-9a-f]+)?\.db(?:-wal)?$/

/** Adds the sizes of the databases, once for a data directory. */
export function registerDatabases(dataDir: string, metrics: Metrics): void {
  metrics.gauge('tollgate_database_bytes', 'Size of a database with its write-ahead log', ['database'], () =>
    [...sizes(dataDir)].map(([name, bytes]) => [[name], bytes] as const),
  )
}

/** Adds what of usage waits to be taken over into the ledger: of each process that charges calls. */
export function registerBacklog(metrics: Metrics, backlog: () => number): void {
  metrics.gauge(
    'tollgate_journal_backlog_rows',
    'Rows of usage that are in a journal and not yet in the ledger',
    [],
    () => [[[], backlog()]],
  )
}

function sizes(dataDir: string): ReadonlyMap<string, number> {
  const found = new Map<string, number>()
  for (const file of filesOf(dataDir)) {
    const [, name] = DATABASE.exec(file) ?? []
    if (name === undefined) continue
    // A journal may be removed at this moment.
    const size = statSync(join(dataDir, file), { throwIfNoEntry: false })?.size ?? 0
    found.set(name, (found.get(name) ?? 0) + size)
  }
  return found
}

/** None where the directory cannot be read: a gauge fails neither a scrape nor a stop. */
function filesOf(dataDir: string): readonly string[] {
  try {
    return readdirSync(dataDir)
  } catch {
    return []
  }
}
