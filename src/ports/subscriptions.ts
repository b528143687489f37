/** Subscriptions of a network: equal calls of any number of clients share one at a node. */
import type { Reply } from '../jsonrpc/message.ts'
import type { Raw } from '../jsonrpc/raw.ts'
import type { Refusal } from '../refusal/refusal.ts'
import type { MethodRow, Network, Snapshot } from '../snapshot/types.ts'
import type { MaybePromise } from './maybe-promise.ts'
import type { CallRecord } from './tracing.ts'

/** A message of a subscription, one object for all its clients. */
export interface Message {
  readonly result: Raw
  /** The block or slot that it shows, on the scale of its subscription; null where it shows none. */
  readonly height: number | null
  /** Id of the route that it came over; null where that is not known. */
  readonly route: string | null
  /** Whether the subscription is over with it. */
  readonly last: boolean
}

/** What clients of a shared subscription hear. */
export interface Listener {
  message(message: Message): void
  /** The subscription cannot go on: the client has to start again. */
  lost(why: string): void
}

/** A client's part in a shared subscription. */
export interface Share {
  /** Lets messages pass: the client has been told its id. */
  start(): void
  leave(): void
}

/** Who subscribes, and how many subscriptions they may hold. */
export interface Subscriber {
  readonly holder: string
  readonly limit: number
}

/** Records tries at routes. */
export type Attempts = Pick<CallRecord, 'attempt'>

/** What is subscribed to. */
export interface SubscribeCall {
  readonly method: string
  readonly params: Raw
  /** Where each try to open it at a node is recorded; absent where nothing is. One that is open already is not opened again. */
  readonly trace?: Attempts | undefined
}

/** Joins clients to shared subscriptions. */
export interface Subscriptions {
  /** Joins `listener` to the subscription of this call; a refusal or a node's error leaves nothing behind. */
  join(
    network: Network,
    row: MethodRow,
    call: SubscribeCall,
    listener: Listener,
    subscriber: Subscriber,
  ): Promise<Share | (Reply & { kind: 'error' }) | Refusal>
  /** How many subscriptions of a holder this process may keep under a smaller limit; Infinity where it has no more than that. */
  part(holder: string, limit: number): MaybePromise<number>
  /** Upstream subscriptions now, by network. */
  count(): ReadonlyMap<string, number>
  /** Why a route can carry no subscription now, as a sentence for the operator; null where nothing is known against it. */
  whyNoSocket(routeId: string): string | null
  /** Goes on with another snapshot. */
  reconcile(snapshot: Snapshot): void
  close(): void
}
