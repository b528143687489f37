/** The open sockets to upstreams, one per route. */
import type { Route } from '../../snapshot/types.ts'
import type { ByteBudget } from './backlog.ts'
import { ReadingTurns } from './reading-turns.ts'
import { UpstreamSocket } from './upstream-socket.ts'

/** Milliseconds for which a route carries no subscriptions after its socket was a flood. */
const SHUNNED = 60_000

/** What is reported to the operator. */
export interface SocketEvents {
  /** Something threw that should not have. */
  bug(error: unknown, where: string): void
  /** The node of a route sends what no chain sends; its socket was cut. */
  flood(route: string, why: string): void
}

interface Entry {
  readonly definition: string
  readonly opening: Promise<UpstreamSocket>
}

/** Opens a socket when the first subscription needs it, and closes it with the last one. */
export class UpstreamSockets {
  readonly #connectTimeout: () => number
  readonly #events: SocketEvents
  readonly #budget: ByteBudget | null
  readonly #turns = new ReadingTurns()
  readonly #entries = new Map<string, Entry>()
  /** Until when routes are shunned, in milliseconds of the monotonic clock. */
  readonly #shunned = new Map<string, number>()

  constructor(connectTimeout: () => number, events: SocketEvents, budget: ByteBudget | null) {
    this.#connectTimeout = connectTimeout
    this.#events = events
    this.#budget = budget
  }

  /** The socket of a route; rejects when it cannot be opened. */
  get(route: Route): Promise<UpstreamSocket> {
    const definition = definitionOf(route)
    const known = this.#entries.get(route.id)
    if (known?.definition === definition) return known.opening
    if (this.#isShunned(route.id)) return Promise.reject(new Error(`route ${route.id} floods its socket`))
    const opening = this.#open(route)
    const entry = { definition, opening }
    this.#entries.set(route.id, entry)
    const forget = (): void => {
      if (this.#entries.get(route.id) === entry) this.#entries.delete(route.id)
    }
    opening.then(socket => {
      socket.whenClosed(forget)
    }, forget)
    void known?.opening.then(closeSocket, () => undefined)
    return opening
  }

  /** Closes a socket that carries nothing any more. */
  release(socket: UpstreamSocket): void {
    if (socket.isIdle) socket.close()
  }

  /** Closes the sockets of routes that are gone or changed; their subscriptions go elsewhere. */
  retain(current: (routeId: string) => Route | undefined): void {
    for (const [id, { definition, opening }] of this.#entries) {
      const route = current(id)
      if (route !== undefined && definitionOf(route) === definition) continue
      this.#entries.delete(id)
      void opening.then(closeSocket, () => undefined)
    }
  }

  close(): void {
    this.retain(() => undefined)
  }

  #open(route: Route): Promise<UpstreamSocket> {
    return UpstreamSocket.open(route, this.#connectTimeout(), {
      turns: this.#turns,
      budget: this.#budget,
      onBug: error => {
        this.#events.bug(error, `socket of route ${route.id}`)
      },
      onFlood: why => {
        this.#shunned.set(route.id, performance.now() + SHUNNED)
        this.#events.flood(route.id, why)
      },
    })
  }

  #isShunned(id: string): boolean {
    const until = this.#shunned.get(id) ?? 0
    if (until > performance.now()) return true
    this.#shunned.delete(id)
    return false
  }
}

function definitionOf({ ws, headers }: Route): string {
  return JSON.stringify([ws, headers])
}

function closeSocket(socket: UpstreamSocket): void {
  socket.close()
}
