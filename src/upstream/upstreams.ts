/** All live routes. They outlive a snapshot: a reload touches only the routes whose definition changed. */
import type { Network, Route, Snapshot } from '../snapshot/types.ts'
import { LiveRoute } from './live-route.ts'
import { pick } from './pick.ts'
import type { Candidate, Need, Picked } from './pick.ts'
import { RetryBudget } from './retry-budget.ts'
import type { Tips } from './tips.ts'

interface Entry {
  readonly definition: string
  readonly live: LiveRoute
}

/** Opens, keeps and closes live routes as snapshots come and go. */
export class Upstreams {
  readonly #entries = new Map<string, Entry>()
  readonly #budgets = new Map<string, RetryBudget>()
  readonly #tips: Tips

  constructor(tips: Tips) {
    this.#tips = tips
  }

  /** Makes the live routes those of the snapshot; removed ones finish their calls and close. */
  reconcile(snapshot: Snapshot): void {
    const wanted = new Map<string, Route>()
    for (const network of Object.values(snapshot.networks))
      for (const route of network.routes) wanted.set(route.id, route)
    for (const [id, { live }] of this.#entries)
      if (!wanted.has(id)) {
        this.#entries.delete(id)
        void live.close()
      }
    for (const route of wanted.values()) this.#open(route, snapshot)
  }

  #open(route: Route, { networks, gateway }: Snapshot): void {
    const { id, network, http, headers, limits } = route
    // What identifies the chain belongs to it: a route that was found to be wrong may be right for another one.
    const { chainId, genesisHash } = networks[network]!
    const { connect } = gateway.timeouts
    const definition = JSON.stringify({ network, chainId, genesisHash, http, headers, limits, connect })
    const current = this.#entries.get(id)
    if (current?.definition === definition) return
    void current?.live.close()
    this.#entries.set(id, { definition, live: new LiveRoute(route, connect) })
  }

  /** The live route of that id; absent once no snapshot names it. */
  get(id: string): LiveRoute | undefined {
    return this.#entries.get(id)?.live
  }

  /** The live routes of a network. */
  of(network: Network): LiveRoute[] {
    return network.routes.flatMap(({ id }) => this.get(id) ?? [])
  }

  /** The best route for the next attempt, among those of `ids` that `tried` does not hold. */
  pick(
    network: Network,
    ids: readonly string[],
    tried: ReadonlySet<string>,
    need: Need,
    now: number,
  ): Picked {
    const able = this.#candidates(network, ids).filter(({ route }) => !tried.has(route.id))
    return pick(able, need, ({ live }) => this.#tips.isLagging(network, live), now)
  }

  /** Routes to carry a subscription: those that calls may go to, by priority. */
  carriers(network: Network, ids: readonly string[], now: number): Route[] {
    const able = this.#candidates(network, ids).filter(({ live }) => live.fault === null)
    const rank = ({ live }: Candidate): number =>
      live.whyNot(now) === null && !this.#tips.isLagging(network, live) ? 0 : 1
    return able
      .sort((a, b) => rank(a) - rank(b) || a.route.priority - b.route.priority)
      .map(({ route }) => route)
  }

  /** A route has shown a block in a call's answer: newer than what it was last asked for. */
  learnHead(network: Network, id: string, head: number, now: number): void {
    const live = this.get(id)
    if (live === undefined || (live.head !== null && live.head >= head)) return
    live.head = head
    this.#tips.update(network.slug, this.of(network), now)
  }

  /** Bounds the retries of a network. */
  budget(slug: string): RetryBudget {
    const known = this.#budgets.get(slug)
    if (known !== undefined) return known
    const fresh = new RetryBudget()
    this.#budgets.set(slug, fresh)
    return fresh
  }

  /** Why calls keep away from a route now, for the operator; null when they do not. */
  whyNot(network: Network, id: string, now: number): string | null {
    const live = this.get(id)
    if (live === undefined) return 'it is not open'
    const why = live.whyNot(now)
    if (why !== null || !this.#tips.isLagging(network, live)) return why
    return `it is ${(this.#tips.best(network.slug) ?? 0) - (live.head ?? 0)} blocks behind and serves no reads of the newest block`
  }

  /** Ends every connection. */
  async close(): Promise<void> {
    await Promise.all([...this.#entries.values()].map(({ live }) => live.destroy()))
    this.#entries.clear()
  }

  #candidates(network: Network, ids: readonly string[]): Candidate[] {
    return network.routes.flatMap(route => {
      const live = ids.includes(route.id) ? this.get(route.id) : undefined
      return live === undefined ? [] : [{ route, live }]
    })
  }
}
