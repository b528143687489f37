/** When the write-ahead log of journal.db is written back into it, on a thread of its own (checkpoint-worker.ts). */
import type { Worker } from 'node:worker_threads'
import { startThread } from '../../../net/thread.ts'
import type { WorkerData, WorkerOrder, WorkerReply } from './checkpoint-worker.ts'
import type { UsageDatabase } from './database.ts'
import type { UsageEvents } from './events.ts'
import type { ReadLog } from './sums/threads.ts'

/** How often, in milliseconds. */
const EVERY = 5_000
/** Pages of the log, of 4 KiB, past which the thread that serves calls sees to it that the log starts anew: 64 MiB. */
const FULL = 16_384
/** Pages past which nobody may read until the log has started anew: 128 MiB. */
const LONG = 32_768

/** Writes the log back while the ledger is open. */
export class Checkpoints implements ReadLog {
  readonly #database: UsageDatabase
  readonly #delayed: UsageEvents['delayed']
  readonly #timer: NodeJS.Timeout
  #worker: Worker | null = null
  #underWay: Promise<void> | null = null
  #isClosed = false
  /** The last journal record at the last checkpoint. */
  #seq = -1
  /** Pages of the log at the last checkpoint. */
  #pages = 0

  constructor(database: UsageDatabase, { delayed }: Pick<UsageEvents, 'delayed'>) {
    this.#database = database
    this.#delayed = delayed
    this.#timer = setInterval(() => {
      if (this.#seq !== database.seq) void this.run()
    }, EVERY)
    this.#timer.unref()
  }

  /** Whether readers have kept the log from starting anew for so long that they have to pause. */
  isLong(): boolean {
    return this.#pages > LONG
  }

  /** Writes all of the log back; resolves when the next commit starts it anew, if nobody reads. */
  async shorten(): Promise<void> {
    await this.#underWay
    await this.run(0)
    this.#pages = 0
  }

  /** Writes back what no reader is in the way of; a log of more than `full` pages starts anew. Resolves also when that failed. */
  run(full = FULL): Promise<void> {
    // What is at the path may be another file by now.
    if (this.#isClosed || this.#database.refused !== null) return Promise.resolve()
    this.#underWay ??= this.#run(full).finally(() => {
      this.#underWay = null
    })
    return this.#underWay
  }

  /** Ends the thread, once it has written what it is writing. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    this.#isClosed = true
    await this.#underWay
    const worker = this.#worker
    if (worker === null) return
    // Until it has ended it has the file open, which is then not closed as a whole.
    worker.ref()
    await new Promise<void>(resolve => {
      worker.once('exit', () => {
        resolve()
      })
      this.#tell(worker, 'end')
    })
  }

  async #run(full: number): Promise<void> {
    this.#seq = this.#database.seq
    try {
      const { pages, left } = await this.#ask()
      this.#pages = pages
      // A reader was in the way: without a further charge nothing else would write the rest back.
      if (left > 0) this.#seq = -1
      // A log starts anew when no page of it is left to be written back, and under load one always is: what came in the last milliseconds.
      if (pages > full && left === 0) this.#database.checkpoint()
    } catch (error) {
      this.#delayed('checkpoint', error as Error)
    }
  }

  #ask(): Promise<Exclude<WorkerReply, { failure: string }>> {
    const worker = (this.#worker ??= this.#start())
    return new Promise((resolve, reject) => {
      const hear = (reply: WorkerReply): void => {
        worker.off('error', reject).off('exit', ended)
        if ('failure' in reply) reject(new Error(reply.failure))
        else resolve(reply)
      }
      const ended = (): void => {
        reject(new Error('the thread that writes the log of usage back has ended'))
      }
      worker.once('message', hear).once('error', reject).once('exit', ended)
      this.#tell(worker, 'write back')
    })
  }

  #tell(worker: Worker, order: WorkerOrder): void {
    worker.postMessage(order)
  }

  #start(): Worker {
    const workerData: WorkerData = this.#database.file
    const file = { beside: import.meta.url, source: 'checkpoint-worker', built: 'usage-checkpoints' }
    const worker = startThread(file, { workerData })
    worker.unref()
    worker.on('error', () => undefined)
    worker.on('exit', () => {
      this.#worker = null
    })
    return worker
  }
}
