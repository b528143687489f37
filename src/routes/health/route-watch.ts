/** Notices when routes go down and come back, and when a network is left without any. */
import type { Network } from '../../snapshot/types.ts'
import type { LiveRoute } from '../live-route.ts'

/** Hears of it, each once; durations in milliseconds. */
export interface RouteEvents {
  routeDown(network: string, route: string, why: string): void
  routeUp(network: string, route: string, ms: number): void
  /** Every route is down, or has never answered; `why` says so of each. */
  networkDown(network: string, why: string): void
  networkUp(network: string, ms: number): void
}

/** Milliseconds of being down after which a node may have started again, and have forgotten what it held for clients. */
const RESTART = 10_000

/** What another process knows of a route that is or was down; milliseconds, null when it was not. */
export interface KnownDown {
  readonly downFor: number | null
  readonly restartedAgo: number | null
}

const NOTHING_KNOWN: KnownDown = { downFor: null, restartedAgo: null }

/** Routes of a network whose reasons are told. */
const MOST_REASONS = 5

/** Compares each route with what it was; owns `downSince`, `restartedAt` and `silent`. Times are of the monotonic clock. */
export class RouteWatch {
  readonly #events: RouteEvents
  /** Networks without a route, and since when. */
  readonly #networksDown: Map<string, number>
  /** Routes of which anything is known here. */
  readonly #checked = new WeakSet<LiveRoute>()

  /** `networksDown` are those that are known to be without a route, and since when. */
  constructor(events: RouteEvents, networksDown: Iterable<readonly [slug: string, since: number]> = []) {
    this.#events = events
    this.#networksDown = new Map(networksDown)
  }

  /**
   * Takes in the state of one route of a network, which was asked, and whose live routes are `routes`; with what another process
   * knows of how long it was down, from before this one began.
   */
  check(
    { slug }: Pick<Network, 'slug'>,
    live: LiveRoute,
    routes: readonly LiveRoute[],
    now: number,
    known: KnownDown = NOTHING_KNOWN,
  ): void {
    const why = live.whyUnhealthy(now)
    const { downSince } = live
    // A wrong chain is an answer too; then the reason is that.
    live.silent = !live.identified && live.fault === null
    if (why !== null && downSince === null) {
      live.downSince = now - (known.downFor ?? 0)
      this.#events.routeDown(slug, live.id, why)
    } else if (why === null && downSince !== null) {
      live.downSince = null
      if (now - downSince >= RESTART) live.restartedAt = now
      this.#events.routeUp(slug, live.id, now - downSince)
    }
    if (known.restartedAgo !== null)
      live.restartedAt = Math.max(live.restartedAt ?? -Infinity, now - known.restartedAgo)
    this.#checked.add(live)
    this.#checkNetwork(slug, routes, now)
  }

  /** Forgets networks that are no longer served. */
  retain(slugs: ReadonlySet<string>): void {
    for (const slug of this.#networksDown.keys()) if (!slugs.has(slug)) this.#networksDown.delete(slug)
  }

  #checkNetwork(slug: string, routes: readonly LiveRoute[], now: number): void {
    const since = this.#networksDown.get(slug)
    if (since === undefined) {
      if (routes.length === 0 || !routes.every(isDown)) return
      this.#networksDown.set(slug, now)
      this.#events.networkDown(slug, reasonsOf(routes, now))
    } else if (routes.some(live => this.#checked.has(live) && !isDown(live))) {
      // One that nobody has asked yet is not a route again.
      this.#networksDown.delete(slug)
      this.#events.networkUp(slug, now - since)
    }
  }
}

function isDown({ downSince, silent }: LiveRoute): boolean {
  return downSince !== null || silent
}

function reasonsOf(routes: readonly LiveRoute[], now: number): string {
  const reasons = routes
    .slice(0, MOST_REASONS)
    .map(live => `${live.id}: ${live.whyDown(now) ?? live.whyNot(now) ?? 'down'}`)
  const more = routes.length - reasons.length
  return more === 0 ? reasons.join('; ') : `${reasons.join('; ')}; and ${more} more`
}

/** Whether the node of a route has forgotten what it held at `since`, as it was down for `RESTART` after that. */
export function hasRestarted(
  { downSince, restartedAt }: Pick<LiveRoute, 'downSince' | 'restartedAt'>,
  since: number,
  now: number,
): boolean {
  if (downSince !== null && now - downSince >= RESTART) return true
  return restartedAt !== null && since < restartedAt
}
