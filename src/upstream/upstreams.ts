/** All live routes. They outlive a snapshot: a reload touches only the routes whose definition changed. */
import type { Network, Route, Snapshot } from '../snapshot/types.ts'
import { LiveRoute } from './live-route.ts'
import { contenders, pick } from './pick.ts'
import type { Candidate, Contenders, Need, Picked } from './pick.ts'
import { RetryBudget } from './retry-budget.ts'
import type { Scale } from './scale.ts'
import type { Tips } from './tips.ts'

interface Entry {
  /** Everything that makes it this way to this upstream: a change of it is another live route. */
  readonly definition: string
  readonly route: Route
  readonly live: LiveRoute
}

/** Routes that are open and do not serve yet. */
export interface Opened {
  readonly entries: Map<string, Entry>
  readonly slugs: ReadonlySet<string>
}

/** Opens, keeps and closes live routes as snapshots come and go. */
export class Upstreams {
  #entries = new Map<string, Entry>()
  readonly #retired: LiveRoute[] = []
  readonly #budgets = new Map<string, RetryBudget>()
  readonly #tips: Tips

  constructor(tips: Tips) {
    this.#tips = tips
  }

  /**
   * Opens what the snapshot names and is not open yet, one route a step: a large edit is for `gently`. Nothing of it serves
   * before it is adopted.
   */
  *open({ networks, gateway }: Snapshot): Generator<void, Opened> {
    const entries = new Map<string, Entry>()
    for (const network of Object.values(networks))
      for (const route of network.routes) {
        const definition = definitionOf(route, network, gateway.timeouts.connect)
        const current = this.#entries.get(route.id)
        const live =
          current?.definition === definition
            ? current.live
            : new LiveRoute(route, gateway.timeouts.connect, network.family)
        entries.set(route.id, { definition, route, live })
        yield
      }
    return { entries, slugs: new Set(Object.keys(networks)) }
  }

  /** Serves with these from now on; those that are not among them wait for `retire`. */
  adopt({ entries, slugs }: Opened): void {
    for (const [id, { live }] of this.#entries) if (entries.get(id)?.live !== live) this.#retired.push(live)
    this.#entries = entries
    for (const slug of this.#budgets.keys()) if (!slugs.has(slug)) this.#budgets.delete(slug)
  }

  /** Closes routes that serve no more, one a step; each ends its calls first. */
  *retire(): Generator<void, void> {
    for (let live = this.#retired.pop(); live !== undefined; live = this.#retired.pop()) {
      void live.close()
      yield
    }
  }

  /** What the snapshot says of a live route. */
  route(id: string): Route | undefined {
    return this.#entries.get(id)?.route
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

  /** The same without the draw, for the operator. */
  contenders(network: Network, ids: readonly string[], need: Need, now: number): Contenders {
    const able = this.#candidates(network, ids)
    return contenders(able, need, ({ live }) => this.#tips.isLagging(network, live), now)
  }

  /** Why a call with that need passes over a route against which nothing else speaks; null when it does not. */
  waits(id: string, { atLeast, mayProbe, scale }: Need, now: number): string | null {
    const live = this.get(id)
    if (live === undefined) return null
    if (!live.identified) return 'it has not told its chain yet'
    if (!live.room.fits(now)) return 'it is at its limits'
    if (!mayProbe && live.breaker.state(now) === 'half-open')
      return 'it failed, and waits for a call that may be repeated'
    return atLeast !== null && !live.hasReached(atLeast, scale) ? `it has not come to block ${atLeast}` : null
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
  learnHead(network: Network, id: string, head: number, now: number, scale: Scale = 'head'): void {
    const live = this.get(id)
    if (scale !== 'head') live?.slots.show(scale, head, now)
    if (live === undefined || scale.endsWith('height') || (live.head !== null && live.head >= head)) return
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

  /** Why calls (about the newest block, unless `tip` is false) keep away from a route now; null when they do not. */
  whyNot(network: Network, id: string, now: number, tip = true): string | null {
    const live = this.get(id)
    if (live === undefined) return 'it is not open'
    const why = live.whyNot(now)
    if (why !== null || !tip || !this.#tips.isLagging(network, live)) return why
    return `it is ${(this.#tips.best(network.slug) ?? 0) - (live.head ?? 0)} blocks behind and serves no reads of the newest block`
  }

  /** Ends every connection. */
  async close(): Promise<void> {
    const live = [...this.#retired, ...[...this.#entries.values()].map(entry => entry.live)]
    this.#entries.clear()
    await Promise.all(live.map(route => route.destroy()))
  }

  #candidates(network: Network, ids: readonly string[]): Candidate[] {
    return network.routes.flatMap(route => {
      const live = ids.includes(route.id) ? this.get(route.id) : undefined
      return live === undefined ? [] : [{ route, live }]
    })
  }
}

/** What identifies the chain belongs to it: a route that was found to be wrong may be right for another one. */
function definitionOf(route: Route, { family, chainId, genesisHash }: Network, connect: number): string {
  const { network, http, headers, limits } = route
  return JSON.stringify({ network, family, chainId, genesisHash, http, headers, limits, connect })
}
