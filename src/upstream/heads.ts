/** How far each route's chain has come, asked of every route every few seconds. */
import { decodeJson } from '../jsonrpc/raw.ts'
import type { Network, Snapshot } from '../snapshot/types.ts'
import type { LiveRoute } from './live-route.ts'
import type { Upstreams } from './upstreams.ts'

/** Milliseconds between two questions to one route, and how long it may take to answer. */
const EVERY = 5_000
const PATIENCE = 4_000

/** What a node of a family is asked for its head. */
const QUESTION = { evm: 'eth_blockNumber', solana: 'getSlot', http: null } as const

/** Knows the heads; block numbers on EVM, slots on Solana. */
export class Heads {
  readonly #upstreams: Upstreams
  #snapshot: Snapshot
  readonly #byRoute = new Map<string, number>()
  readonly #timer: NodeJS.Timeout

  constructor(upstreams: Upstreams, snapshot: Snapshot) {
    this.#upstreams = upstreams
    this.#snapshot = snapshot
    this.#timer = setInterval(() => {
      this.#askAll()
    }, EVERY)
    this.#askAll()
  }

  /** Asks the routes of another snapshot from now on; heads of routes that stay are kept. */
  watch(snapshot: Snapshot): void {
    this.#snapshot = snapshot
    this.#askAll()
  }

  /** Best known head of a network; null until a route has told one. */
  best(slug: string): number | null {
    const heads = this.#snapshot.networks[slug]?.routes.flatMap(({ id }) => this.#byRoute.get(id) ?? []) ?? []
    return heads.length === 0 ? null : Math.max(...heads)
  }

  /** Head of a route; null until it has told one. */
  of(routeId: string): number | null {
    return this.#byRoute.get(routeId) ?? null
  }

  close(): void {
    clearInterval(this.#timer)
  }

  #askAll(): void {
    const { networks } = this.#snapshot
    const known = new Set<string>()
    for (const network of Object.values(networks))
      for (const { id } of network.routes) {
        known.add(id)
        const live = this.#upstreams.get(id)
        if (live !== undefined) void this.#ask(network, live)
      }
    for (const id of this.#byRoute.keys()) if (!known.has(id)) this.#byRoute.delete(id)
  }

  async #ask({ family }: Network, live: LiveRoute): Promise<void> {
    const method = QUESTION[family]
    if (method === null) return
    const verdict = await live.probe(method, PATIENCE)
    const head = verdict.kind === 'result' ? Number(decodeJson(verdict.result)) : NaN
    if (Number.isSafeInteger(head) && this.#upstreams.get(live.id) === live) this.#byRoute.set(live.id, head)
  }
}
