/** What the line works with: the snapshot of this message, and the live parts that outlive it. */
import type { Departure } from '../net/departure.ts'
import type { Raw } from '../jsonrpc/raw.ts'
import type { MessageHolder } from '../limits/byte-budget.ts'
import type { AnswerCache } from '../ports/answer-cache.ts'
import type { Author } from '../ports/audit.ts'
import type { Clock } from '../ports/clock.ts'
import type { Journal } from '../ports/journal.ts'
import type { Limits } from '../ports/limits.ts'
import type { Observer } from '../ports/observer.ts'
import type { Refusal } from '../refusal/refusal.ts'
import type { Snapshot } from '../snapshot/types.ts'
import type { Blockhashes } from '../families/blockhashes.ts'
import type { Filters } from '../routes/filters.ts'
import type { Floors } from '../routes/floors.ts'
import type { Heads } from '../routes/heads.ts'
import type { Sent } from '../routes/sent.ts'
import type { Subscriptions } from '../ports/subscriptions.ts'
import type { MessageRecord, Tracing } from '../ports/tracing.ts'
import type { Prober } from '../routes/health/prober.ts'
import type { Upstreams } from '../routes/upstreams.ts'
import type { BadKeys } from '../limits/bad-keys.ts'
import type { FreeEnds } from '../limits/free-ends.ts'
import type { Caller, Payer } from './caller.ts'
import type { Flights } from './share/flights.ts'
import type { Slots } from '../limits/slots.ts'

/** The `service_*` methods, as the line sees them. */
export interface Management {
  /** Their names. */
  readonly methods: Pick<ReadonlySet<string>, 'has'>
  /** Whether the method works without a key. */
  isPublic(method: string): boolean
  /** The result, as a value or as JSON text, the error object, or a refusal; null when this caller has no such method. */
  answer(
    method: string,
    params: unknown,
    caller:
      | (Pick<Payer, 'account'> & { readonly endpoint?: Payer['endpoint'] | null; readonly by?: Author })
      | null,
    snapshot: Snapshot,
  ): Promise<
    { readonly result: unknown } | { readonly json: Raw } | { readonly error: unknown } | Refusal | null
  >
}

/** The live parts. */
export interface Live {
  readonly limits: Limits
  readonly journal: Journal
  readonly badKeys: BadKeys
  readonly subscriptions: Subscriptions
  /** How many subscriptions clients hold on each network. */
  readonly clientSubscriptions: Slots
  readonly upstreams: Upstreams
  readonly observer: Observer
  readonly tracing: Tracing
  readonly management: Management
  readonly heads: Pick<Heads, 'best' | 'isConfirmed' | 'finality'>
  readonly answers: AnswerCache
  readonly flights: Flights
  readonly prober: Pick<Prober, 'watch'>
  readonly filters: Filters
  readonly freeEnds: FreeEnds
  readonly floors: Floors
  readonly sent: Sent
  readonly blockhashes: Blockhashes
  readonly clock: Clock
}

/** One message on its way. */
export interface Context {
  readonly snapshot: Snapshot
  /** How often kept answers had been purged when the message came: an edit of what its snapshot says of them purges too. */
  readonly purges: number
  readonly live: Live
  /** Told to the client in refusals and in X-Request-Id. */
  readonly requestId: string
  /** Who is charged for it; null on the public route. */
  readonly payer: Payer | null
  /**
   * The caller as of now: keys, accounts, plans and rules may have changed since the message came. Whatever begins later than that, such as an item of a
   * batch or another attempt, asks.
   */
  readonly renew: () => Caller | Refusal
  /** Whether it ends as soon as its caller is denied: a node is at work on it that changes nothing. */
  endsWhenDenied: boolean
  /** Where what is held for the message is counted. */
  readonly holder: MessageHolder | null
  /** Of the client; asked for only where that spares a node much work, or the call has to wait. */
  readonly departure: () => Departure | null
  /** The trace of its calls; null as long as none needs one. */
  trace: MessageRecord | null
}
