/** Subscriptions of a network: equal calls of any number of clients share one at a node. */
import type { Reply } from '../jsonrpc/message.ts'
import type { Raw } from '../jsonrpc/raw.ts'
import type { Refusal } from '../refusal/refusal.ts'
import type { MethodRow, Network, Snapshot } from '../snapshot/types.ts'

/** What clients of a shared subscription hear. */
export interface Listener {
  /** A message of the subscription. `last` is set when the subscription is over with it. */
  message(result: Raw, last: boolean, route: string | null): void
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

/** What is subscribed to. */
export interface SubscribeCall {
  readonly method: string
  readonly params: Raw
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
  /** Upstream subscriptions now, by network. */
  count(): ReadonlyMap<string, number>
  /** Why a route can carry no subscription now, as a sentence for the operator; null where nothing is known against it. */
  whyNoSocket(routeId: string): string | null
  /** Goes on with another snapshot. */
  reconcile(snapshot: Snapshot): void
  close(): void
}
