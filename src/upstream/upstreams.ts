/** All live routes. They outlive a snapshot: a reload touches only the routes whose definition changed. */
import type { Network, Route, Snapshot } from '../snapshot/types.ts'
import { LiveRoute } from './live-route.ts'
import { inOrder } from './order.ts'

interface Entry {
  readonly definition: string
  readonly live: LiveRoute
}

/** Opens, keeps and closes live routes as snapshots come and go. */
export class Upstreams {
  readonly #entries = new Map<string, Entry>()

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
    for (const route of wanted.values()) this.#open(route, snapshot.gateway.timeouts.connect)
  }

  #open(route: Route, connectTimeout: number): void {
    const { id, network, http, headers, limits } = route
    const definition = JSON.stringify({ network, http, headers, limits, connectTimeout })
    const current = this.#entries.get(id)
    if (current?.definition === definition) return
    void current?.live.close()
    this.#entries.set(id, { definition, live: new LiveRoute(route, connectTimeout) })
  }

  /** The live route of that id; absent once no snapshot names it. */
  get(id: string): LiveRoute | undefined {
    return this.#entries.get(id)?.live
  }

  /** The routes of a network among `ids`, in the order they should be tried now. */
  candidates(network: Network, ids: readonly string[], now: number): { route: Route; live: LiveRoute }[] {
    const able = network.routes.flatMap(route => {
      const live = ids.includes(route.id) ? this.get(route.id) : undefined
      return live === undefined ? [] : [{ route, live }]
    })
    return inOrder(able, now)
  }

  /** Why calls keep away from a route now, for the operator; null when they do not. */
  whyNot(id: string, now: number): string | null {
    const live = this.get(id)
    if (live === undefined) return 'it is not open'
    return live.breaker.allows(now)
      ? null
      : `it failed and is given a pause (last: ${live.breaker.lastError ?? ''})`
  }

  /** Ends every connection. */
  async close(): Promise<void> {
    await Promise.all([...this.#entries.values()].map(({ live }) => live.destroy()))
    this.#entries.clear()
  }
}
