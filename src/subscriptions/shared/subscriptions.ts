/** All shared subscriptions: one upstream subscription for equal calls on one network. */
import { familyOf } from '../../families/families.ts'
import type { Reply } from '../../jsonrpc/message.ts'
import { refuse } from '../../refusal/refusal.ts'
import type { Refusal } from '../../refusal/refusal.ts'
import { findMethod } from '../../snapshot/find-method.ts'
import type { MethodRow, Network, Route, Snapshot } from '../../snapshot/types.ts'
import { BoundedCache } from '../../limits/bounded-cache.ts'
import { Slots } from '../../limits/slots.ts'
import type { Holdings } from '../../ports/holdings.ts'
import type { MaybePromise } from '../../ports/maybe-promise.ts'
import type { Upstreams } from '../../routes/upstreams.ts'
import type { ByteBudget } from '../socket/backlog.ts'
import { Entry } from './entry.ts'
import { Member } from './listener.ts'
import type { Listener, Share, SubscribeCall, Subscriber, Subscriptions } from '../../ports/subscriptions.ts'
import { SharedSubscription } from './shared.ts'
import { sharedParams } from './shared-params.ts'
import { StalledWatch } from './stalled.ts'
import { SubscriptionSlots } from './slots.ts'
import { UpstreamSockets } from '../socket/upstream-sockets.ts'
import type { SocketEvents } from '../socket/upstream-sockets.ts'

/** What subscriptions work with. */
export interface SubscriptionsOptions {
  readonly upstreams: Upstreams
  readonly snapshot: Snapshot
  readonly connectTimeout: () => number
  readonly events: SocketEvents
  /** Bytes that everything held in memory shares; null for no bound in common. */
  readonly budget: ByteBudget | null
  /** Who holds how many; default: counted in this process. */
  readonly holdings?: Holdings
}

/** Callers and subscriptions remembered whose subscribe calls cut a socket, and for how many milliseconds. */
const APART = 1_024
const APART_FOR = 600_000

/** Joins clients to shared subscriptions. */
export class SharedSubscriptions implements Subscriptions {
  readonly #upstreams: Upstreams
  readonly #events: SocketEvents
  readonly #budget: ByteBudget | null
  readonly #sockets: UpstreamSockets
  readonly #silence: StalledWatch
  readonly #slots: SubscriptionSlots
  readonly #entries = new Map<string, Entry>()
  readonly #counts = new Map<string, number>()
  readonly #apart = new BoundedCache<true>(APART, { ttl: APART_FOR })
  #snapshot: Snapshot

  constructor({ upstreams, snapshot, connectTimeout, events, budget, holdings }: SubscriptionsOptions) {
    this.#slots = new SubscriptionSlots(holdings ?? new Slots())
    this.#upstreams = upstreams
    this.#snapshot = snapshot
    this.#events = events
    this.#budget = budget
    this.#sockets = new UpstreamSockets(connectTimeout, events, budget, slug => upstreams.blockTime(slug))
    this.#silence = new StalledWatch({
      sockets: this.#sockets,
      upstreams,
      networkOf: slug => this.#snapshot.networks[slug],
    })
  }

  /** Joins `listener` to the subscription of this call; a refusal or a node's error leaves nothing behind. */
  async join(
    network: Network,
    row: MethodRow,
    call: SubscribeCall,
    listener: Listener,
    { holder, limit }: Subscriber,
  ): Promise<Share | (Reply & { kind: 'error' }) | Refusal> {
    const params = sharedParams(familyOf(network).subscriptions, call.method, call.params)
    // What a caller that cuts sockets leads goes over a socket of its own, where nobody else should be.
    const whose = this.#apart.has(holder) ? `${holder} ` : ''
    const key = `${network.slug} ${whose}${call.method} ${params}`
    const kept = this.#entries.get(key)
    if (kept?.keptBy === holder) kept.reclaim()
    else {
      // Taken before the first await: racing calls cannot pass the limit.
      const taking = this.#slots.take(holder, limit)
      const isTaken = taking instanceof Promise ? await taking : taking
      if (!isTaken) return refuse('too_many_subscriptions', undefined, { limit })
    }
    const entry = this.#entries.get(key) ?? this.#start(key, network, row, { ...call, params }, holder)
    entry.revive()
    const { shared } = entry
    const member = new Member(listener, holder, this.#budget)
    shared.listeners.add(member)
    const begun = await shared.begun
    if (begun !== 'begun') {
      shared.listeners.delete(member)
      member.drop()
      this.#slots.free(holder)
      return begun
    }
    let left = false
    return {
      start: () => {
        member.start()
      },
      leave: () => {
        if (!left) this.#leave(entry, member, holder)
        left = true
      },
    }
  }

  /** Why a route can carry no subscription now, as a sentence for the operator; null where nothing is known against it. */
  whyNoSocket(routeId: string): string | null {
    return this.#sockets.whyNone(routeId)
  }

  part(holder: string, limit: number): MaybePromise<number> {
    return this.#slots.part(holder, limit)
  }

  /** Upstream subscriptions now, by network. */
  count(): ReadonlyMap<string, number> {
    return this.#counts
  }

  /** Goes on with another snapshot: closes the sockets of routes that it does not name, or names otherwise. */
  reconcile(snapshot: Snapshot): void {
    this.#snapshot = snapshot
    this.#sockets.retain(id => this.#upstreams.route(id))
  }

  close(): void {
    this.#silence.close()
    for (const entry of this.#entries.values()) void entry.end()
    this.#sockets.close()
  }

  /** A member's slot is free, or, where it was the last one, the slot in which the subscription is kept. */
  #leave(entry: Entry, member: Member, holder: string): void {
    const { shared } = entry
    shared.listeners.delete(member)
    member.drop()
    if (shared.listeners.size > 0 || shared.isOver) this.#slots.free(holder)
    else {
      entry.keep(holder)
      // Whoever subscribes next has missed nothing, and must not be closed for what was missed here.
      if (shared.isRecovering) void entry.end()
    }
  }

  #start(
    key: string,
    { slug, family }: Network,
    row: MethodRow,
    { method, params, trace }: SubscribeCall,
    holder: string,
  ): Entry {
    const entry = new Entry(slug, this.#slots)
    this.#entries.set(key, entry)
    this.#counts.set(slug, (this.#counts.get(slug) ?? 0) + 1)
    const heights = this.#upstreams.heights({ slug, family })
    const words = familyOf({ family }).subscriptions
    const scale = words.scale(method, params)
    entry.shared = new SharedSubscription(
      {
        method,
        params,
        family,
        sockets: this.#sockets,
        holder,
        apart: this.#apart,
        heights,
        filler: words.filler(method, params, heights),
        heightIn: result => (scale === null ? null : words.shown(method, scale, result)),
        budget: this.#budget,
        unsubscribe: row.rule.subscribe ?? '',
        routes: () => this.#carriers(slug, method),
        onOver: () => {
          this.#entries.delete(key)
          this.#counts.set(slug, (this.#counts.get(slug) ?? 0) - 1)
          entry.over()
        },
        onBug: error => {
          this.#events.bug(error, `subscription ${method} on ${slug}`)
        },
      },
      trace,
    )
    return entry
  }

  /** A subscription outlives the snapshot it began with: an edit may take its routes away and bring others. */
  #carriers(slug: string, method: string): readonly Route[] {
    const network = this.#snapshot.networks[slug]
    const row = network === undefined ? null : findMethod(network, method)
    if (network === undefined || row === null) return []
    return this.#upstreams.carriers(network, row.routes, id => this.#sockets.trouble(id), performance.now())
  }
}
