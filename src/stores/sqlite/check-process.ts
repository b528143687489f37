/**
 * A process that reads all of a database file and says whether it is sound. Its argument is the path. A thread reads, for as long as that takes; the process
 * listens meanwhile, and ends when nobody is there any more to hear the answer, such as behind `kill -9`.
 */
import { constants, setPriority } from 'node:os'
import { isMainThread, parentPort, workerData } from 'node:worker_threads'
import { startThread } from '../../net/thread.ts'
import { DatabaseSync } from './driver.ts'
import { explainFailure } from './error.ts'
import { checkFile } from './file.ts'
import type { Verdict } from './late-check.ts'

/** Milliseconds that it waits for a file that is being recovered. */
const PATIENCE = 5_000

if (isMainThread) listen(process.argv[2] ?? '')
else {
  parentPort?.postMessage(verdict(workerData as string))
  // Stays until the process ends: the last one that closes a file locks it, and a gateway may be starting meanwhile.
  parentPort?.on('message', () => undefined)
}

function listen(file: string): void {
  if (process.connected) process.once('disconnect', end)
  else end()
  // Calls go first when there are not enough cores. The thread inherits it.
  setPriority(constants.priority.PRIORITY_LOW)
  const own = { beside: import.meta.url, source: 'check-process', built: 'file-check' }
  const reader = startThread(own, { workerData: file })
  reader.once('message', (verdict: Verdict) => {
    process.send?.(verdict, end)
  })
}

/** At once: an ordinary end would wait for the thread, and close the file. */
function end(): void {
  process.kill(process.pid, 'SIGKILL')
}

function verdict(file: string): Verdict {
  try {
    const database = new DatabaseSync(file, { readOnly: true, timeout: PATIENCE })
    checkFile(database, file)
    return null
  } catch (error) {
    const explained = explainFailure(file, error)
    return explained instanceof Error ? explained.message : String(explained)
  }
}
