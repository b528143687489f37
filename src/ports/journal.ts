/** The record of what was charged: written before the reply leaves, so that no acknowledged call is lost by a crash. */
import type { MaybePromise } from './maybe-promise.ts'
import type { Payer } from './limits.ts'

/** What is known of a call once it is over. */
export interface Settlement {
  /** The node answered with an error. */
  readonly error: boolean
  readonly bytesOut: number
  readonly upstreamMs: number
}

/** The charge of one call, on its way to the disk. */
export interface Charge {
  readonly units: number
  /** Whether it is on disk; asked before the last byte of a reply leaves. Charges that are committed together give one promise. */
  commit(): MaybePromise<boolean>
  /** Whether its commit has failed, so that it never was on disk. */
  readonly isLost: boolean
  /** Takes it back. Resolves when that has been tried on disk too, so that a killed process leaves no charge for a refused call. */
  giveBack(): Promise<void>
  /** Adds how the call went. */
  settle(settlement: Settlement): void
}

/** Records charges and counts refusals. Times are milliseconds since the Unix epoch. */
export interface Journal {
  /** Why charges cannot be recorded now; null while they can. */
  readonly failure: Error | null
  /** Begins the charge of one call; `period` is its grant's. */
  charge(payer: Payer, method: string, units: number, period: number, now: number): Charge
  /** Counts a call that was refused; it costs nothing. */
  refused(payer: Pick<Payer, 'account' | 'endpoint'>, method: string, reason: string, now: number): void
}
