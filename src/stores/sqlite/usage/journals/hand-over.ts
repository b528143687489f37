/** The journal of a worker: a file of its own, whose charges the ledger of another process takes over. */
import { setImmediate as turn } from 'node:timers/promises'
import type { StatementSync } from '../../driver.ts'
import { Charging } from '../charging.ts'
import type { UsageCounter } from '../counters.ts'
import type { UsageDatabase } from '../database.ts'
import type { UsageEvents } from '../events.ts'
import type { Usage } from '../fold.ts'

/** How often it is handed over, in milliseconds, and how long to wait where it was not taken. */
const EVERY = 1_000
/** Milliseconds that dropping what was taken holds the thread at a time. */
const SLICE = 2
/** Milliseconds of failed attempts after which the operator hears of them: a keeper that is started again is away for less. */
const WORTH_TELLING = 10_000
/** Bytes that wait for the ledger past which nothing more is charged: a keeper that takes nothing must not cost the machine its disk. */
const MOST_BYTES = 256 * 1024 * 1024
/** Pages that were emptied are used again. */
const IN_USE = `SELECT (page_count - freelist_count) * page_size AS bytes
  FROM pragma_page_count, pragma_freelist_count, pragma_page_size`

/** What one journal holds up to a place. */
export interface Batch {
  /** The name of the journal's file, which no other ever has. */
  readonly file: string
  readonly place: number
  readonly usage: readonly Usage[]
}

/** Who takes batches over: resolves once the batch is in the ledger, rejects while that cannot be told. */
export type TakeOver = (batch: Batch) => Promise<void>

/** A batch on its way, and the last record of the journal when it was made. */
interface UnderWay extends Batch {
  readonly seq: number
}

/** Owns one journal while its process serves. */
export class HandedOver {
  /** Where calls are charged. */
  readonly charging: Charging
  readonly #database: UsageDatabase
  readonly #events: UsageEvents
  readonly #file: string
  readonly #takeOver: TakeOver
  readonly #now: () => number
  readonly #most: number
  readonly #inUse: StatementSync
  readonly #timer: NodeJS.Timeout
  /** What was not said to be taken: it is handed over again as it is, whatever has come since. */
  #batch: UnderWay | null = null
  /** Since when every attempt has failed; null while they succeed. */
  #failingSince: number | null = null
  #last: Promise<boolean> = Promise.resolve(true)
  #waiting: Promise<boolean> | null = null

  /**
   * `file` names the journal: the database is new, or has been taken over whole. `now` is a monotonic clock in milliseconds, `most` is how many bytes
   * may wait for the ledger; it is looked at once a second.
   */
  constructor(
    database: UsageDatabase,
    file: string,
    events: UsageEvents,
    takeOver: TakeOver,
    now = (): number => performance.now(),
    most = MOST_BYTES,
  ) {
    this.#database = database
    this.#events = events
    this.#file = file
    this.#takeOver = takeOver
    this.#now = now
    this.#most = most
    this.#inUse = database.database.prepare(IN_USE)
    this.charging = new Charging(database, events)
    this.#timer = setInterval(() => {
      this.#bound()
      void this.handOver()
    }, EVERY)
    this.#timer.unref()
  }

  /** Hands over all that was charged and refused before; whether it was taken. Those who ask while one is under way share the next. */
  handOver(): Promise<boolean> {
    this.#waiting ??= this.#last.then(() => {
      this.#waiting = null
      this.#last = this.#handOver()
      return this.#last
    })
    return this.#waiting
  }

  /** Hands over what is left, and closes the file. Whether its file may be removed: nothing in it is missing in the ledger. */
  async close(): Promise<boolean> {
    clearInterval(this.#timer)
    await this.charging.settled()
    const isTaken = await this.handOver()
    this.#database.close()
    return isTaken
  }

  async #handOver(): Promise<boolean> {
    try {
      // What waits from before goes first.
      if (this.#batch !== null) await this.#send(this.#batch)
      this.#batch = this.#next()
      if (this.#batch !== null) await this.#send(this.#batch)
      this.#failingSince = null
      return true
    } catch (error) {
      // Not counted by attempts: whoever reads usage has one made, too.
      this.#failingSince ??= this.#now()
      if (this.charging.failure === null && this.#now() - this.#failingSince >= WORTH_TELLING)
        this.#events.delayed('fold', error as Error)
      return false
    }
  }

  async #send(batch: UnderWay): Promise<void> {
    const { file, place, usage, seq } = batch
    await this.#takeOver({ file, place, usage })
    this.#batch = null
    // Behind an hour without the ledger there is much to drop.
    while (this.#database.trim(seq, SLICE)) await turn()
    this.#bound()
  }

  /** Whether more may be charged. */
  #bound(): void {
    try {
      const { bytes } = this.#inUse.get() as { bytes: number }
      const size = `${(bytes / 1024 ** 2).toFixed(1)} MiB`
      const full = new Error(`${this.#file} holds ${size} that the ledger has not taken over`)
      this.charging.writer.hold(bytes > this.#most ? full : null)
    } catch {
      // What is wrong with the file, the next commit says.
    }
  }

  /** What there is now; null where that is nothing. A counter's later charges are of a later place. */
  #next(): UnderWay | null {
    const { counters, writer } = this.charging
    writer.flush()
    const contents = counters.contents()
    if (contents.length === 0) return null
    const batch = {
      file: this.#file,
      place: counters.last,
      usage: contents.map(usageOf),
      seq: this.#database.seq,
    }
    counters.release(contents.length)
    counters.forgetQuiet()
    return batch
  }
}

/** A copy of what a counter holds. */
function usageOf(counter: UsageCounter): Usage {
  const { account, endpoint, network, method, hour, window, plan } = counter
  const { calls, requests, errors, refusals, reasons, bytesOut, upstreamMs, latency } = counter
  return {
    account,
    endpoint,
    network,
    method,
    hour,
    window,
    plan,
    calls,
    requests,
    errors,
    refusals,
    reasons,
    bytesOut,
    upstreamMs,
    latency,
  }
}
