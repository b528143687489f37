/** The open sockets to upstreams, one per route. */
import type { Route } from '../../snapshot/types.ts'
import { UpstreamSocket } from './upstream-socket.ts'

interface Entry {
  readonly definition: string
  readonly opening: Promise<UpstreamSocket>
}

/** Opens a socket when the first subscription needs it, and closes it with the last one. */
export class UpstreamSockets {
  readonly #connectTimeout: () => number
  readonly #entries = new Map<string, Entry>()

  constructor(connectTimeout: () => number) {
    this.#connectTimeout = connectTimeout
  }

  /** The socket of a route; rejects when it cannot be opened. */
  get(route: Route): Promise<UpstreamSocket> {
    const definition = definitionOf(route)
    const known = this.#entries.get(route.id)
    if (known?.definition === definition) return known.opening
    const opening = UpstreamSocket.open(route, this.#connectTimeout())
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
}

function definitionOf({ ws, headers }: Route): string {
  return JSON.stringify([ws, headers])
}

function closeSocket(socket: UpstreamSocket): void {
  socket.close()
}
