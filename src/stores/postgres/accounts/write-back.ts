/** When the write-ahead log of the replica is written back into it: on a thread (checkpoint-worker.ts), since that waits for the disk. */
import type { Worker } from 'node:worker_threads'
import { startThread } from '../../../net/thread.ts'
import type { WorkerData, WorkerOrder } from '../../sqlite/usage/checkpoint-worker.ts'

/** Writes the log of one file back. The thread is started when there is something to do. */
export class WriteBack {
  readonly #file: WorkerData
  #worker: Worker | null = null
  #isClosed = false

  constructor(file: string) {
    this.#file = file
  }

  /** Resolves when it is done, also where it failed: the next commit does it then. */
  async run(): Promise<void> {
    if (this.#isClosed) return
    const worker = (this.#worker ??= this.#start())
    await this.#tell(worker, 'write back', 'message')
  }

  /** Ends the thread. */
  async close(): Promise<void> {
    this.#isClosed = true
    const worker = this.#worker
    if (worker === null) return
    worker.ref()
    await this.#tell(worker, 'end', 'exit')
  }

  #tell(worker: Worker, order: WorkerOrder, end: 'message' | 'exit'): Promise<void> {
    return new Promise(resolve => {
      const done = (): void => {
        worker.off(end, done).off('exit', done)
        resolve()
      }
      worker.once(end, done).once('exit', done)
      worker.postMessage(order)
    })
  }

  #start(): Worker {
    const own = {
      beside: import.meta.url,
      source: '../../sqlite/usage/checkpoint-worker',
      built: 'usage-checkpoints',
    }
    const worker = startThread(own, { workerData: this.#file })
    worker.unref()
    worker.on('error', () => undefined)
    worker.on('exit', () => {
      this.#worker = null
    })
    return worker
  }
}
