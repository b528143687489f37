/** Notices when routes go down and come back, and when a network is left without any. */
import type { Network } from '../snapshot/types.ts'
import type { LiveRoute } from './live-route.ts'

/** Hears of it, each once; durations in milliseconds. */
export interface RouteEvents {
  routeDown(network: string, route: string, why: string): void
  routeUp(network: string, route: string, ms: number): void
  networkDown(network: string): void
  networkUp(network: string, ms: number): void
}

/** Compares each route with what it was; owns `downSince`. Times are of the monotonic clock. */
export class RouteWatch {
  readonly #events: RouteEvents
  /** Networks without a route, and since when. */
  readonly #networksDown = new Map<string, number>()

  constructor(events: RouteEvents) {
    this.#events = events
  }

  /** Takes in the state of one route of a network, whose live routes are `routes`. */
  check({ slug }: Pick<Network, 'slug'>, live: LiveRoute, routes: readonly LiveRoute[], now: number): void {
    const why = live.whyNot(now)
    const { downSince } = live
    if ((why === null) === (downSince === null)) return
    if (downSince === null) {
      live.downSince = now
      this.#events.routeDown(slug, live.id, why ?? '')
    } else {
      live.downSince = null
      this.#events.routeUp(slug, live.id, now - downSince)
    }
    this.#checkNetwork(slug, routes, now)
  }

  /** Forgets networks that are no longer served. */
  retain(slugs: ReadonlySet<string>): void {
    for (const slug of this.#networksDown.keys()) if (!slugs.has(slug)) this.#networksDown.delete(slug)
  }

  #checkNetwork(slug: string, routes: readonly LiveRoute[], now: number): void {
    const isDown = routes.length > 0 && routes.every(({ downSince }) => downSince !== null)
    const since = this.#networksDown.get(slug)
    if (isDown === (since !== undefined)) return
    if (since === undefined) {
      this.#networksDown.set(slug, now)
      this.#events.networkDown(slug)
    } else {
      this.#networksDown.delete(slug)
      this.#events.networkUp(slug, now - since)
    }
  }
}
