/** Answers queries apart from the thread that serves calls. */
import type { Worker } from 'node:worker_threads'
import { startThread } from '../../../../net/thread.ts'
import type { ThreadFile } from '../../../../net/thread.ts'
import { StoreUnavailable } from '../../../../ports/store-unavailable.ts'
import { FairQueue } from './queue.ts'
import type { Ledger, SumsFailure, SumsPage, SumsQuery } from '../../../../ports/ledger.ts'
import type { WorkerReply } from './worker.ts'

/** Milliseconds that a query may take, and after which a thread that has not ended it is ended itself. */
const LIMIT = 10_000
const GRACE = 5_000
/** Milliseconds that a thread stays for another query. */
const STAY = 10_000
/** MiB of a thread's heap. */
const HEAP = 256

/** What the threads have to do with the write-ahead log, which cannot start anew while somebody reads it. */
export interface ReadLog {
  /** Whether it has grown so long that readers have to pause. */
  isLong(): boolean
  /** Writes it back while nobody reads; resolves when it is no longer long. */
  shorten(): Promise<void>
}

/** The thread that reads a data directory. */
export function threadOn(dataDir: string): SumThread {
  return {
    file: { beside: import.meta.url, source: 'worker', built: 'usage-worker' },
    data: limit => ({ dataDir, limit }),
  }
}

/** A kind of thread. */
export interface SumThread {
  readonly file: ThreadFile
  /** What it is started with; `limit`: milliseconds that a query may take. */
  readonly data: (limit: number) => object
}

/** Starts its threads with the queries that need them, and ends them when there are none for a while. */
export class SumThreads implements Pick<Ledger, 'sum'> {
  readonly #kind: SumThread
  readonly #log: ReadLog
  readonly #queue: FairQueue<SumsPage | SumsFailure>
  readonly #idle: Thread[] = []
  readonly #all = new Set<Thread>()
  #closed = false
  #isShortening = false

  constructor(kind: SumThread, log: ReadLog) {
    this.#kind = kind
    this.#log = log
    this.#queue = new FairQueue(() => this.#mayRead())
  }

  sum(query: SumsQuery): Promise<SumsPage | SumsFailure> {
    if (this.#closed) return Promise.resolve('busy')
    return this.#queue.run(query.accountId ?? '', () => this.#ask(query))
  }

  /** Ends all threads. */
  async close(): Promise<void> {
    this.#closed = true
    await Promise.all([...this.#all].map(thread => thread.end()))
  }

  /** A log that has grown long is written back between two readers: the last of those that run lets that begin, and its end the next. */
  #mayRead(): boolean {
    if (this.#isShortening) return false
    if (!this.#log.isLong()) return true
    if (this.#queue.running > 0) return false
    this.#isShortening = true
    void this.#log.shorten().finally(() => {
      this.#isShortening = false
      this.#queue.next()
    })
    return false
  }

  async #ask(query: SumsQuery): Promise<SumsPage | SumsFailure> {
    const thread = this.#idle.pop() ?? this.#start()
    try {
      return await thread.ask(query)
    } finally {
      if (thread.isAlive) this.#idle.push(thread)
    }
  }

  #start(): Thread {
    const thread = new Thread(this.#kind, () => {
      this.#all.delete(thread)
      const at = this.#idle.indexOf(thread)
      if (at !== -1) this.#idle.splice(at, 1)
    })
    this.#all.add(thread)
    return thread
  }
}

/** One thread. */
class Thread {
  isAlive = true
  readonly #worker: Worker
  readonly #ended: () => void
  #timer: NodeJS.Timeout | undefined

  constructor({ file, data }: SumThread, ended: () => void) {
    const workerData = data(LIMIT)
    const resourceLimits = { maxOldGenerationSizeMb: HEAP }
    this.#worker = startThread(file, { workerData, resourceLimits })
    this.#worker.unref()
    this.#worker.on('error', () => undefined)
    this.#ended = ended
    this.#worker.on('exit', () => {
      this.#leave()
    })
  }

  /** Asks for one answer; rejects when the thread ends before it has given one. */
  ask(query: SumsQuery): Promise<SumsPage | SumsFailure> {
    const worker = this.#worker
    this.#after(LIMIT + GRACE)
    return new Promise((resolve, reject) => {
      const hear = (reply: WorkerReply): void => {
        worker.off('error', reject).off('exit', ended)
        this.#after(STAY)
        if (!('answer' in reply)) reject(new Error(`a query of usage failed: ${reply.bug}`))
        else if (reply.answer === 'away') reject(new StoreUnavailable('PostgreSQL cannot be reached'))
        else resolve(reply.answer)
      }
      const ended = (): void => {
        resolve('too_long')
      }
      worker.once('message', hear).once('error', reject).once('exit', ended)
      worker.postMessage(query)
    })
  }

  /** Ends it; what it has not answered yet is `too_long`. */
  async end(): Promise<void> {
    this.#leave()
    await this.#worker.terminate()
  }

  /** Gets no further query from now on. */
  #leave(): void {
    this.isAlive = false
    clearTimeout(this.#timer)
    this.#ended()
  }

  #after(ms: number): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.end(), ms).unref()
  }
}
