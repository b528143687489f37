/** The open sockets to upstreams, one per route. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Route } from '../../snapshot/types.ts'
import type { ByteBudget } from './backlog.ts'
import { ReadingTurns } from './reading-turns.ts'
import { STEADY, SocketHealth } from '../shared/socket-health.ts'
import type { HealthEvents, Trouble } from '../shared/socket-health.ts'
import { UpstreamSocket } from './upstream-socket.ts'
import type { SocketContext } from './upstream-socket.ts'

/** What is reported to the operator. */
export interface SocketEvents extends HealthEvents {
  /** Something threw that should not have. */
  bug(error: unknown, where: string): void
  /** The socket of a route was cut for what its node sends. */
  cut(route: string, why: string): void
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
  readonly #opened = new Set<UpstreamSocket>()
  readonly #health: SocketHealth

  constructor(connectTimeout: () => number, events: SocketEvents, budget: ByteBudget | null) {
    this.#connectTimeout = connectTimeout
    this.#events = events
    this.#budget = budget
    this.#health = new SocketHealth(events)
  }

  /** How far behind the others a route comes, by how its last sockets ended. */
  trouble(routeId: string): Trouble {
    return this.#health.trouble(routeId, performance.now())
  }

  /** Why a route has no socket although one was tried for lately; null when it has one, or none was wanted. */
  whyNone(routeId: string): string | null {
    return this.#health.isUnreached(routeId, performance.now()) ? 'its WebSocket cannot be reached' : null
  }

  /** The socket of a route, after a pause where the last ones failed; rejects when it cannot be opened. */
  get(route: Route): Promise<UpstreamSocket> {
    const definition = definitionOf(route)
    const known = this.#entries.get(route.id)
    if (known?.definition === definition) return known.opening
    const opening = this.#open(route)
    const entry = { definition, opening }
    this.#entries.set(route.id, entry)
    const forget = (): void => {
      if (this.#entries.get(route.id) === entry) this.#entries.delete(route.id)
    }
    opening.then(socket => {
      socket.whenClosed(forget)
    }, forget)
    if (known !== undefined) this.#retire(route.id, known)
    return opening
  }

  /** The sockets that are open now. */
  opened(): Iterable<UpstreamSocket> {
    return [...this.#opened]
  }

  /** Closes a socket that carries nothing any more. */
  release(socket: UpstreamSocket): void {
    if (socket.isIdle) socket.close()
  }

  /** Closes the sockets of routes that are gone or changed; their subscriptions go elsewhere. */
  retain(current: (routeId: string) => Route | undefined): void {
    for (const [id, entry] of this.#entries) {
      const route = current(id)
      if (route !== undefined && definitionOf(route) === entry.definition) continue
      this.#entries.delete(id)
      this.#retire(id, entry)
    }
    this.#health.retain(id => current(id) !== undefined)
  }

  close(): void {
    this.retain(() => undefined)
  }

  async #open(route: Route): Promise<UpstreamSocket> {
    const { id } = route
    const wait = this.#health.pause(id, performance.now())
    if (wait > 0) await pause(wait, undefined, { ref: false })
    const socket = await UpstreamSocket.open(route, this.#connectTimeout(), this.#contextOf(id)).catch(
      (error: unknown) => {
        this.#health.unreached(id, performance.now())
        throw error
      },
    )
    this.#health.opened(id)
    const steady = setTimeout(() => {
      this.#health.lasted(id, performance.now())
    }, STEADY).unref()
    this.#opened.add(socket)
    socket.whenClosed(() => {
      this.#opened.delete(socket)
      clearTimeout(steady)
    })
    return socket
  }

  #contextOf(id: string): SocketContext {
    return {
      turns: this.#turns,
      budget: this.#budget,
      onBug: error => {
        this.#events.bug(error, `socket of route ${id}`)
      },
      onCut: why => {
        this.#health.cut(id, performance.now())
        this.#events.cut(id, why)
      },
      onLost: () => {
        this.#health.lost(id, performance.now())
      },
    }
  }

  /** Closes the socket of a route that is gone or leads elsewhere: how it fared says nothing any more. */
  #retire(id: string, { opening }: Entry): void {
    this.#health.forget(id)
    void opening.then(closeSocket, () => undefined)
  }
}

function definitionOf({ ws, headers }: Route): string {
  return JSON.stringify([ws, headers])
}

function closeSocket(socket: UpstreamSocket): void {
  socket.close()
}
