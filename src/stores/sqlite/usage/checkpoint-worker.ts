/** A thread that writes the write-ahead log of journal.db back into it: that waits for the disk, and the thread that serves calls must not. */
import { setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { DatabaseSync } from '../driver.ts'

/** What the thread is started with: the path of journal.db. */
export type WorkerData = string

/** What the thread is told: to write back what it can, or to end. */
export type WorkerOrder = 'write back' | 'end'

/** What it says when it has: the pages in the log, and those of them that a reader keeps from being written back; or why it failed. */
export type WorkerReply = { readonly pages: number; readonly left: number } | { readonly failure: string }

/** Of the thread, where the system has priorities of threads: calls go first when there are not enough cores. */
const NICE = 5
/** Times that it looks what came to the log while it wrote. Each takes less long, and when nothing came, the next commit starts the log anew. */
const PASSES = 10

// Elsewhere this would be the priority of the whole process.
if (process.platform === 'linux') setPriority(NICE)
const database = new DatabaseSync(workerData as WorkerData, { timeout: 0 })
database.exec('PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0')
// Passive: it takes no lock that a commit waits for.
const checkpoint = database.prepare('PRAGMA wal_checkpoint(PASSIVE)')

parentPort?.on('message', (order: WorkerOrder) => {
  if (order === 'end') {
    database.close()
    parentPort?.close()
  } else parentPort?.postMessage(reply())
})

function reply(): WorkerReply {
  try {
    let pages = 0
    let left = 0
    for (let pass = 0; pass < PASSES; pass += 1) {
      const { log, checkpointed } = checkpoint.get() as { log: number; checkpointed: number }
      // Somebody else is writing the log back.
      if (log < 0) break
      const isAll = log === pages
      pages = log
      left = log - checkpointed
      if (isAll || left > 0) break
    }
    return { pages, left }
  } catch (error) {
    return { failure: error instanceof Error ? error.message : String(error) }
  }
}
