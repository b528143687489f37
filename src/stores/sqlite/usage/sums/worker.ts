/** A thread that answers queries, one at a time, from a connection that only reads. */
import { setPriority } from 'node:os'
import { join } from 'node:path'
import { parentPort, workerData } from 'node:worker_threads'
import { DatabaseSync } from '../../driver.ts'
import { journalFile } from '../schema.ts'
import { answer } from './answer.ts'
import { TooManyGroups } from './groups.ts'
import { Scan, TookTooLong } from './scan.ts'
import type { SumsFailure, SumsPage, SumsQuery } from '../../../../ports/ledger.ts'

/** What the thread is started with. */
export interface WorkerData {
  readonly dataDir: string
  /** Milliseconds that a query may take. */
  readonly limit: number
}

/** What it sends for each query; `away` where a store elsewhere cannot be reached; a string in `bug` is the stack of what was thrown. */
export type WorkerReply = { readonly answer: SumsPage | SumsFailure | 'away' } | { readonly bug: string }

/** Of the thread, where the system has priorities of threads: calls go first when there are not enough cores. */
const NICE = 5
/** Milliseconds that a read waits for a file that is being recovered. */
const PATIENCE = 5_000

const { dataDir, limit } = workerData as WorkerData
// Elsewhere this would be the priority of the whole process.
if (process.platform === 'linux') setPriority(NICE)
const database = new DatabaseSync(join(dataDir, journalFile.name), { readOnly: true, timeout: PATIENCE })

parentPort?.on('message', (query: SumsQuery) => {
  parentPort?.postMessage(reply(query))
})

function reply(query: SumsQuery): WorkerReply {
  const end = performance.now() + limit
  try {
    // One moment for all statements: what is folded in between would be missing or there twice.
    database.exec('BEGIN')
    const scan = new Scan(database, query, () => performance.now() > end)
    return { answer: answer(query, scan) }
  } catch (error) {
    if (error instanceof TookTooLong) return { answer: 'too_long' }
    if (error instanceof TooManyGroups) return { answer: 'too_many_groups' }
    return { bug: error instanceof Error ? (error.stack ?? error.message) : String(error) }
  } finally {
    // A snapshot that stays open would keep the write-ahead log growing.
    if (database.isTransaction) database.exec('COMMIT')
  }
}
