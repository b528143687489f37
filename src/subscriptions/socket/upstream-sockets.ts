/** The open sockets to upstreams: one per route, and one for each caller whose subscribe calls are kept apart. */
import { withCause } from '../../routes/transport/cause.ts'
import { setTimeout as pause } from 'node:timers/promises'
import type { Route } from '../../snapshot/types.ts'
import type { ByteBudget } from './backlog.ts'
import { pingEvery } from './heartbeat.ts'
import { ReadingTurns } from './reading-turns.ts'
import { STEADY, SocketHealth } from '../shared/socket-health.ts'
import type { HealthEvents, Trouble } from '../shared/socket-health.ts'
import { NoConnection } from './connect.ts'
import { UpstreamSocket } from './upstream-socket.ts'
import type { SocketContext } from './upstream-socket.ts'

/** What is reported to the operator. */
export interface SocketEvents extends HealthEvents {
  /** Something threw that should not have. */
  bug(error: unknown, where: string): void
  /** The socket of a route was cut for what its node sends. */
  cut(route: string, why: string): void
}

/** Sockets of single callers of which is remembered how they ended. */
const APART_REMEMBERED = 1_024
const NO_EVENTS: HealthEvents = { socketsFail: () => undefined, socketsLast: () => undefined }

interface Entry {
  readonly routeId: string
  readonly definition: string
  readonly opening: Promise<UpstreamSocket>
}

/** Opens a socket when the first subscription needs it, and closes it with the last one. */
export class UpstreamSockets {
  readonly #connectTimeout: () => number
  readonly #events: SocketEvents
  readonly #budget: ByteBudget | null
  readonly #blockTime: (network: string) => number | null
  readonly #turns = new ReadingTurns()
  readonly #entries = new Map<string, Entry>()
  readonly #opened = new Set<UpstreamSocket>()
  readonly #health: SocketHealth
  /** Of the sockets that one caller has for itself. */
  readonly #apartHealth = new SocketHealth(NO_EVENTS, APART_REMEMBERED)

  /** `blockTime`: milliseconds per block of a network, null while they are not known. */
  constructor(
    connectTimeout: () => number,
    events: SocketEvents,
    budget: ByteBudget | null,
    blockTime: (network: string) => number | null,
  ) {
    this.#connectTimeout = connectTimeout
    this.#blockTime = blockTime
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
    const why = this.#health.whyUnreached(routeId, performance.now())
    return why === null ? null : withCause('its WebSocket cannot be reached', why === '' ? null : why)
  }

  /**
   * The socket of a route, after a pause where the last ones failed; rejects when it cannot be opened. With a holder it is one that carries only
   * what this caller subscribes to.
   */
  get(route: Route, holder: string | null = null): Promise<UpstreamSocket> {
    const definition = definitionOf(route)
    // Ids of routes hold no space.
    const key = holder === null ? route.id : `${route.id} ${holder}`
    const known = this.#entries.get(key)
    if (known?.definition === definition) return known.opening
    const opening = this.#open(route, key)
    const entry = { routeId: route.id, definition, opening }
    this.#entries.set(key, entry)
    const forget = (): void => {
      if (this.#entries.get(key) === entry) this.#entries.delete(key)
    }
    opening.then(socket => {
      socket.whenClosed(forget)
    }, forget)
    if (known !== undefined) this.#retire(key, known)
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
    for (const [key, entry] of this.#entries) {
      const route = current(entry.routeId)
      if (route !== undefined && definitionOf(route) === entry.definition) continue
      this.#entries.delete(key)
      this.#retire(key, entry)
    }
    this.#health.retain(id => current(id) !== undefined)
  }

  close(): void {
    this.retain(() => undefined)
  }

  async #open(route: Route, key: string): Promise<UpstreamSocket> {
    const health = key === route.id ? this.#health : this.#apartHealth
    const wait = health.pause(key, performance.now())
    if (wait > 0) await pause(wait, undefined, { ref: false })
    const context = this.#contextOf(route, key, health)
    const socket = await UpstreamSocket.open(route, this.#connectTimeout(), context).catch(
      (error: unknown) => {
        health.unreached(key, performance.now(), error instanceof NoConnection ? error.fault : null)
        throw error
      },
    )
    health.opened(key)
    const steady = setTimeout(() => {
      health.lasted(key, performance.now())
    }, STEADY).unref()
    this.#opened.add(socket)
    socket.whenClosed(() => {
      this.#opened.delete(socket)
      clearTimeout(steady)
    })
    return socket
  }

  #contextOf({ id, network }: Route, key: string, health: SocketHealth): SocketContext {
    return {
      turns: this.#turns,
      budget: this.#budget,
      pingEvery: () => pingEvery(this.#blockTime(network)),
      onBug: error => {
        this.#events.bug(error, `socket of route ${id}`)
      },
      onCut: why => {
        health.cut(key, performance.now())
        this.#events.cut(id, why)
      },
      onLost: isSuspect => {
        if (!isSuspect) health.lost(key, performance.now())
      },
    }
  }

  /** Closes the socket of a route that is gone or leads elsewhere: how it fared says nothing any more. */
  #retire(key: string, { opening }: Entry): void {
    this.#health.forget(key)
    this.#apartHealth.forget(key)
    void opening.then(closeSocket, () => undefined)
  }
}

function definitionOf({ ws, headers }: Route): string {
  return JSON.stringify([ws, headers])
}

function closeSocket(socket: UpstreamSocket): void {
  socket.close()
}
