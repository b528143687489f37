/** All live routes. They outlive a snapshot: a reload touches only the routes whose definition changed. */
import type { Network, Route, Snapshot } from '../snapshot/types.ts'
import { firstKept } from './first-kept.ts'
import { hasRestarted } from './health/route-watch.ts'
import type { PauseReport } from './health/route-pauses.ts'
import type { LiveRoute } from './live-route.ts'
import { openRoutes, type Entry, type Opened, type RouteListener } from './open-routes.ts'
import { UNSHARED, type RouteSharing } from './route-limits.ts'
import { ableOf, contenders, hasWhatItReads, pick, whyWaits } from './pick.ts'
import { carriersAmong } from './carriers.ts'
import type { Able, Candidate, Contenders, LagOf, Need, Picked } from './pick.ts'
import { RetryBudget } from './retry-budget.ts'
import { spread, type Spread } from './spread.ts'
import { Unsupported } from './unsupported.ts'
import type { HeightKind } from '../families/height-kind.ts'
import type { Heights } from '../families/gap.ts'
import type { Heads } from './heads.ts'

/** Opens, keeps and closes live routes as snapshots come and go. */
export class Upstreams {
  #entries = new Map<string, Entry>()
  /** Routes that no snapshot names any more, for messages that began before. */
  readonly #leaving = new Map<string, LiveRoute>()
  #ableOf = new WeakMap<readonly string[], Able>()
  readonly #budgets = new Map<string, RetryBudget>()
  /** What routes have turned out to lack. */
  readonly unsupported = new Unsupported()
  readonly #heads: Heads
  readonly #sharing: RouteSharing
  #unsure: (live: LiveRoute) => void = () => undefined
  #paused: (live: LiveRoute, pause: PauseReport) => void = () => undefined
  #closed = false

  /** `sharing`: with whom it shares what may be sent to its routes. */
  constructor(heads: Heads, sharing = UNSHARED) {
    this.#heads = heads
    this.#sharing = sharing
  }

  /** Calls `listener` when a probe could say more of a route: calls of one caller speak against it, or wait for a block of it. */
  whenUnsure(listener: (live: LiveRoute) => void): void {
    this.#unsure = listener
  }

  /** Calls `listener` when calls or probes of this process have drawn a pause of a route for everybody. */
  whenPaused(listener: (live: LiveRoute, pause: PauseReport) => void): void {
    this.#paused = listener
  }

  /**
   * Opens what the snapshot names and is not open yet, one route a step: a large edit is for `inTimeSlices`. Nothing of it serves
   * before it is adopted.
   */
  open(snapshot: Snapshot): Generator<void, Opened> {
    const listener: RouteListener = {
      unsure: live => {
        this.#unsure(live)
      },
      paused: (live, pause) => {
        this.#paused(live, pause)
      },
    }
    return openRoutes(snapshot, this.#entries, listener, this.#sharing)
  }

  /**
   * Serves with these from now on. Those that are not among them serve on for messages that were let in before, and are
   * returned: `retire` them when the last such message is over.
   */
  adopt({ entries, slugs }: Opened): readonly LiveRoute[] {
    const left = [...this.#entries.values()].flatMap(({ live }) =>
      entries.get(live.id)?.live === live ? [] : [live],
    )
    for (const live of left) this.#leaving.set(live.id, live)
    this.#entries = entries
    this.#ableOf = new WeakMap()
    this.unsupported.clear()
    for (const slug of this.#budgets.keys()) if (!slugs.has(slug)) this.#budgets.delete(slug)
    return left
  }

  /** Closes routes that serve no more, one a step; each ends its calls first. */
  *retire(left: readonly LiveRoute[]): Generator<void, void> {
    for (const live of left) {
      if (this.#leaving.get(live.id) === live) this.#leaving.delete(live.id)
      void live.close()
      yield
    }
  }

  /** Whether calls end because this process does. */
  get closed(): boolean {
    return this.#closed
  }

  /** What the snapshot says of a live route. */
  route(id: string): Route | undefined {
    return this.#entries.get(id)?.route
  }

  /** The live route of that id; absent once no snapshot names it and no message can. */
  get(id: string): LiveRoute | undefined {
    return this.#entries.get(id)?.live ?? this.#leaving.get(id)
  }

  /** Hash of what makes the route of that id: equal in every process with the same one. Undefined when no snapshot names it. */
  definition(id: string): string | undefined {
    return this.#entries.get(id)?.definition
  }

  /** The oldest block or slot that a route keeps; null where it keeps all, or that is not known. */
  readonly firstKept = (id: string): number | null => {
    const entry = this.#entries.get(id)
    return entry === undefined ? null : firstKept(entry.route, entry.live.firstSlot, entry.live.head)
  }

  /** The live routes of a network. */
  of(network: Network): LiveRoute[] {
    return network.routes.flatMap(({ id }) => this.get(id) ?? [])
  }

  /** The best route for the next attempt of a caller's call, among those of `ids` that are not among `tried`. */
  pick(
    network: Network,
    ids: readonly string[],
    tried: readonly string[],
    need: Need,
    caller: string,
    now: number,
  ): Picked {
    return pick(this.#untried(network, ids, tried), need, this.#lagOf(network), caller, now)
  }

  /** Further routes for a call that goes to several upstreams at once: up to `most` beside `first`, of those not among `tried`. */
  beside(first: Candidate, call: Spread, tried: readonly string[], now: number, most: number): Candidate[] {
    const { network, routes } = call
    return spread(first, this.#untried(network, routes, tried).all, call, this.#lagOf(network), now, most)
  }

  /** Those of the routes that are not known to have come to what a call reads. */
  behind(ids: readonly string[], need: Need, now: number): readonly string[] {
    return ids.filter(id => {
      const live = this.get(id)
      return live !== undefined && !hasWhatItReads(live, need, now)
    })
  }

  /** The same without the draw, which changes nothing; without a caller for one of whom nothing is known. */
  contenders(network: Network, ids: readonly string[], need: Need, now: number, caller?: string): Contenders {
    return contenders(this.#able(network, ids).all, need, this.#lagOf(network), caller, now)
  }

  /** Why a call with that need passes over a route against which nothing else speaks; null when it does not. */
  waits(id: string, need: Need, now: number): string | null {
    const live = this.get(id)
    return live === undefined ? null : whyWaits(live, need, now)
  }

  /** Routes to carry a subscription, best first; `trouble` says what speaks against the sockets of one. */
  carriers(network: Network, ids: readonly string[], trouble: (id: string) => number, now: number): Route[] {
    return carriersAmong(this.#able(network, ids).all, this.#lagOf(network), trouble, now)
  }

  /** Whether a height is further behind than the network's maxLag allows, whatever a single route claims. */
  isBehind(network: Network, height: number): boolean {
    return this.#heads.isBehind(network, height)
  }

  /** Milliseconds per block of a network; null while its head is not known. */
  blockTime(network: string): number | null {
    return this.#heads.blockTime(network)
  }

  /** Head of a route, as far as it is more than its own word where there is another; null until there is one. */
  certainHead(id: string): number | null {
    const live = this.get(id)
    if (live?.head == null) return null
    return Math.min(live.head, this.#heads.certain(live.network) ?? live.head)
  }

  /** How far a network has come, as far as its routes are believed. */
  heights(network: Pick<Network, 'slug' | 'family'>): Heights {
    return {
      best: () => this.#heads.best(network.slug),
      isPlausible: height => this.#heads.isPlausible(network, height, performance.now()),
    }
  }

  /**
   * A route has shown a block in a call's answer, newer than what it was last asked for; or nobody knows which one (null). False when no node can
   * have come to it, and so nobody should be held to it.
   */
  learnHead(
    network: Network,
    id: string | null,
    head: number,
    now: number,
    scale: HeightKind = 'head',
  ): boolean {
    const live = id === null ? undefined : this.get(id)
    if (!this.#heads.isPlausible(network, head, now)) return false
    if (scale === 'head') live?.shown.show(head, now)
    else live?.slots.show(scale, head, now)
    if (live === undefined || scale.endsWith('height') || (live.head !== null && live.head >= head))
      return true
    this.#heads.claim(network, live, head, this.of(network), now)
    return true
  }

  /** Bounds the retries of a network. */
  budget(slug: string): RetryBudget {
    let budget = this.#budgets.get(slug)
    if (budget === undefined) this.#budgets.set(slug, (budget = new RetryBudget()))
    return budget
  }

  /** Whether the node of a route has forgotten what it held at `since`: the route is gone, or was down for `RESTART` since then. */
  hasForgotten(id: string, since: number, now: number): boolean {
    const live = this.#entries.get(id)?.live
    return live === undefined || hasRestarted(live, since, now)
  }

  /**
   * Why calls (about the newest block, unless `tip` is false) keep away from a route now; null when they do not. `suspected` as for
   * `LiveRoute`.
   */
  whyNot(network: Network, id: string, now: number, tip = true, suspected = false): string | null {
    const live = this.get(id)
    if (live === undefined) return 'not open'
    return live.whyNot(now, suspected) ?? (tip ? this.#heads.whyBehind(network, live) : null)
  }

  /** The same, or why a route is not known to serve again though a call may try it. */
  whyUnhealthy(network: Network, id: string, now: number, suspected = false): string | null {
    return (
      this.whyNot(network, id, now, true, suspected) ?? this.get(id)?.whyUnhealthy(now, suspected) ?? null
    )
  }

  /** Ends every connection. */
  async close(): Promise<void> {
    this.#closed = true
    const live = [...this.#leaving.values(), ...[...this.#entries.values()].map(entry => entry.live)]
    this.#entries.clear()
    this.#leaving.clear()
    this.#ableOf = new WeakMap()
    await Promise.all(live.map(route => route.destroy()))
  }

  #untried(network: Network, ids: readonly string[], tried: readonly string[]): Able {
    const able = this.#able(network, ids)
    return tried.length === 0 ? able : ableOf(able.all.filter(each => !tried.includes(each.route.id)))
  }

  #lagOf(network: Network): LagOf {
    return ({ live }) => this.#heads.lagOf(network, live)
  }

  /** The routes behind the ids of a snapshot's row: looked up once for each list, until the next snapshot. */
  #able(network: Network, ids: readonly string[]): Able {
    const known = this.#ableOf.get(ids)
    if (known !== undefined) return known
    const all = network.routes.flatMap(route => {
      const live = ids.includes(route.id) ? this.get(route.id) : undefined
      return live === undefined ? [] : [{ route, live }]
    })
    this.#ableOf.set(ids, ableOf(all))
    return this.#able(network, ids)
  }
}
