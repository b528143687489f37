/** All shared subscriptions: one upstream subscription for equal calls on one network. */
import type { Raw } from '../../jsonrpc/raw.ts'
import type { Refusal } from '../../jsonrpc/refusal.ts'
import type { Reply } from '../../jsonrpc/reply.ts'
import { findMethod } from '../../snapshot/find-method.ts'
import type { MethodRow, Network, Route, Snapshot } from '../../snapshot/types.ts'
import type { Upstreams } from '../upstreams.ts'
import { compact, fillerOf } from './kind.ts'
import { SharedSubscription } from './shared.ts'
import type { Listener } from './shared.ts'
import { UpstreamSockets } from './upstream-sockets.ts'

/** Milliseconds that an upstream subscription is kept after its last client left. */
const GRACE = 10_000

/** A client's part in a shared subscription. */
export interface Share {
  leave(): void
}

interface Entry {
  readonly network: string
  readonly shared: SharedSubscription
  grace: NodeJS.Timeout | null
}

/** Joins clients to shared subscriptions. */
export class Subscriptions {
  readonly #upstreams: Upstreams
  readonly #sockets: UpstreamSockets
  readonly #entries = new Map<string, Entry>()
  #snapshot: Snapshot

  constructor(upstreams: Upstreams, snapshot: Snapshot, connectTimeout: () => number) {
    this.#upstreams = upstreams
    this.#snapshot = snapshot
    this.#sockets = new UpstreamSockets(connectTimeout)
  }

  /** Joins `listener` to the subscription of this call; a refusal or a node's error leaves nothing behind. */
  async join(
    network: Network,
    row: MethodRow,
    call: { readonly method: string; readonly params: Raw },
    listener: Listener,
  ): Promise<Share | (Reply & { kind: 'error' }) | Refusal> {
    const params = compact(call.params)
    const key = `${network.slug} ${call.method} ${params}`
    const entry = this.#entries.get(key) ?? this.#start(key, network, row, { method: call.method, params })
    const { shared } = entry
    if (entry.grace !== null) clearTimeout(entry.grace)
    entry.grace = null
    shared.listeners.add(listener)
    const begun = await shared.begun
    if (begun !== 'begun') {
      shared.listeners.delete(listener)
      return begun
    }
    return {
      leave: () => {
        shared.listeners.delete(listener)
        // One that is over has nothing left to keep.
        const live = this.#entries.get(key) === entry
        if (live && shared.listeners.size === 0 && entry.grace === null)
          entry.grace = setTimeout(() => {
            shared.stop()
          }, GRACE)
      },
    }
  }

  /** Upstream subscriptions now, by network. */
  count(): ReadonlyMap<string, number> {
    const counts = new Map<string, number>()
    for (const { network } of this.#entries.values()) counts.set(network, (counts.get(network) ?? 0) + 1)
    return counts
  }

  /** Goes on with another snapshot: closes the sockets of routes that it does not name, or names otherwise. */
  reconcile(snapshot: Snapshot): void {
    this.#snapshot = snapshot
    this.#sockets.retain(id => this.#upstreams.route(id))
  }

  close(): void {
    for (const { shared, grace } of this.#entries.values()) {
      if (grace !== null) clearTimeout(grace)
      shared.stop()
    }
    this.#sockets.close()
  }

  #start(
    key: string,
    { slug, family }: Network,
    row: MethodRow,
    { method, params }: { readonly method: string; readonly params: Raw },
  ): Entry {
    const shared = new SharedSubscription({
      ...{ method, params, sockets: this.#sockets, filler: fillerOf(method, params) },
      family,
      unsubscribe: row.rule.subscribe ?? '',
      routes: () => this.#carriers(slug, method),
      headOf: routeId => this.#upstreams.get(routeId)?.head ?? null,
      onOver: () => {
        if (this.#entries.get(key)?.shared === shared) this.#entries.delete(key)
      },
    })
    const entry: Entry = { network: slug, shared, grace: null }
    this.#entries.set(key, entry)
    return entry
  }

  /** A subscription outlives the snapshot it began with: an edit may take its routes away and bring others. */
  #carriers(slug: string, method: string): readonly Route[] {
    const network = this.#snapshot.networks[slug]
    const row = network === undefined ? null : findMethod(network, method)
    if (network === undefined || row === null) return []
    return this.#upstreams.carriers(network, row.routes, performance.now())
  }
}
