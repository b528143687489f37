/** What the line works with: the snapshot of this message, and the live parts that outlive it. */
import type { Raw } from '../jsonrpc/raw.ts'
import type { Holder } from '../budget/byte-budget.ts'
import type { Observer } from '../observe/observation.ts'
import type { Snapshot } from '../snapshot/types.ts'
import type { Blockhashes } from '../upstream/blockhashes.ts'
import type { Filters } from '../upstream/filters.ts'
import type { Floors } from '../upstream/floors.ts'
import type { Subscriptions } from '../upstream/subscriptions/subscriptions.ts'
import type { Prober } from '../upstream/prober.ts'
import type { Tips } from '../upstream/tips.ts'
import type { Upstreams } from '../upstream/upstreams.ts'
import type { BadKeys } from '../usage/bad-keys.ts'
import type { Meter } from '../usage/meter.ts'
import type { Payer } from './caller.ts'
import type { PublicMeter } from '../usage/public-meter.ts'
import type { Slots } from '../usage/slots.ts'

/** The `service_*` methods, as the line sees them. */
export interface Management {
  has(method: string): boolean
  /** Whether the method works without a key. */
  isPublic(method: string): boolean
  /** The result, as a value or as JSON text, or the error object; null when this caller has no such method. */
  answer(
    method: string,
    params: unknown,
    payer: Pick<Payer, 'account'> | null,
    snapshot: Snapshot,
  ): Promise<{ readonly result: unknown } | { readonly json: Raw } | { readonly error: unknown } | null>
}

/** The live parts. */
export interface Live {
  readonly meter: Meter
  readonly publicMeter: PublicMeter
  readonly badKeys: BadKeys
  readonly subscriptions: Pick<Subscriptions, 'join' | 'count' | 'reconcile' | 'close'>
  /** How many subscriptions clients hold on each network. */
  readonly clientSubscriptions: Slots
  readonly upstreams: Upstreams
  readonly observer: Observer
  readonly management: Management
  readonly tips: Pick<Tips, 'best' | 'isConfirmed'>
  readonly prober: Pick<Prober, 'watch'>
  readonly filters: Filters
  readonly floors: Floors
  readonly blockhashes: Blockhashes
  /** Milliseconds since the Unix epoch: for what people see and what is billed. */
  readonly now: () => number
  /** Milliseconds of a clock that never goes back: for everything that measures a distance in time. */
  readonly monotonic: () => number
}

/** One message on its way. */
export interface Context {
  readonly snapshot: Snapshot
  readonly live: Live
  /** Told to the client in refusals and in X-Request-Id. */
  readonly requestId: string
  /** Where what is held for the message is counted. */
  readonly holder: Holder | null
  /** Aborted when the client leaves; asked for only where that spares a node much work. */
  readonly gone: () => AbortSignal | null
}
