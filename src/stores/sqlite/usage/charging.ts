/** What calls cost: on disk before their replies leave, and counted until a ledger takes it over. */
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises'
import { hourAt } from '../../../limits/window.ts'
import { bucketOf, noLatency } from '../../../ports/latency.ts'
import type { Charge, Journal, Settlement } from '../../../ports/journal.ts'
import type { CommitBatch } from './commit-batch.ts'
import { UsageCounters } from './counters.ts'
import type { Owner, UsageCounter } from './counters.ts'
import type { UsageDatabase } from './database.ts'
import type { UsageEvents } from './events.ts'
import { JournalWriter } from './journal.ts'

/** Looks at a journal that does not come to rest: a disk that takes nothing. */
const MOST_LOOKS = 10

/** The journal of one process, with its counters. */
export class Charging implements Journal {
  readonly counters = new UsageCounters()
  readonly writer: JournalWriter

  constructor(database: UsageDatabase, events: UsageEvents) {
    this.writer = new JournalWriter(database, this.counters, events)
  }

  get failure(): Error | null {
    return this.writer.failure
  }

  /** Charges go into the batch that is open, and count for the counter of their endpoint, method and hour. */
  charge(payer: Owner, method: string, units: number, period: number, now: number): CounterCharge {
    const counter = this.counters.touch(payer, method, hourAt(now), period)
    return new CounterCharge(this, counter, units, this.writer.charge(counter, units))
  }

  refused(payer: Owner, method: string, reason: string, now: number): void {
    const counter = this.counters.touchRefused(payer, method, hourAt(now))
    counter.refusals += 1
    counter.reasons ??= new Map()
    counter.reasons.set(reason, (counter.reasons.get(reason) ?? 0) + 1)
  }

  /**
   * Resolves when no charge waits for a commit, and none is given back any more by those who waited: a notification whose socket has
   * closed meanwhile is.
   */
  async settled(): Promise<void> {
    for (let look = 0; look < MOST_LOOKS; look += 1) {
      this.writer.flush()
      await turn()
      if (this.writer.isIdle) return
      while (this.writer.isBusy) await sleep(1)
    }
  }
}

/** One call's part of a counter and of a batch. */
export class CounterCharge implements Charge {
  readonly #charging: Charging
  readonly counter: UsageCounter
  readonly units: number
  readonly batch: CommitBatch

  constructor(charging: Charging, counter: UsageCounter, units: number, batch: CommitBatch) {
    this.#charging = charging
    this.counter = counter
    this.units = units
    this.batch = batch
  }

  commit(): boolean | Promise<boolean> {
    return this.batch.settled()
  }

  get isLost(): boolean {
    return this.batch.state === 'failed'
  }

  async giveBack(): Promise<void> {
    // There is nothing to take back of what was never recorded.
    if (!this.isLost) await this.#charging.writer.giveBack(this.counter, 1, this.units).settled()
  }

  settle({ error, bytesOut, upstreamMs }: Settlement): void {
    const counter = this.counter
    if (error) counter.errors += 1
    counter.bytesOut += bytesOut
    counter.upstreamMs += upstreamMs
    // What was answered here, or kept from before, says nothing about upstreams.
    if (upstreamMs > 0) (counter.latency ??= noLatency())[bucketOf(upstreamMs)]! += 1
    this.#charging.counters.touchAgain(counter)
  }
}
