/** What is known of one client connection, from its first byte to its end: one object, found by its socket. */
import type { Duplex } from 'node:stream'
import type { Budget } from '../limits/byte-budget.ts'

/** A client's address, and the one that limits count. */
export interface ClientAddress {
  readonly address: string
  /** An IPv6 address cut to its /64: one customer usually holds a whole one. */
  readonly limitAddress: string
}

/** What the last check of idle connections has seen: bytes that had moved so far, and since when there were no more. */
export interface Movement {
  readonly bytes: number
  readonly since: number
}

/** One connection. A field belongs to the file that its comment names, which alone writes it. */
export class Connection {
  /** Its other end; null until it is read (address.ts). */
  address: ClientAddress | null = null
  /** What its replies draw on while the client has not taken them; null where nothing counts them (replies/unsent.ts). */
  budget: Budget | null = null
  /** When it last moved; null before the first check (connections/idle-reply.ts). */
  movement: Movement | null = null
  /** Whether its reply may be silent for as long as it lasts, as an event stream is (connections/idle-reply.ts). */
  mayIdle = false
  /** Whether it ends with a reply that has said so: what comes behind is not answered (connections/linger.ts). */
  isEnding = false
  /** Whether a request that cannot be read was answered: the parser fails again with each piece that follows (connections/client-error.ts). */
  isRefused = false
  /** Upgrades that were declined on it (websocket/decline-upgrade.ts). */
  declined = 0
  #whenGone: Set<() => void> | null = null
  readonly #socket: Duplex

  constructor(socket: Duplex) {
    this.#socket = socket
  }

  /** Calls `release` when the connection is gone; until then the function returned takes it back, and says whether it was waiting. */
  whenGone(release: () => void): () => boolean {
    const releases = (this.#whenGone ??= this.#watch())
    releases.add(release)
    return () => releases.delete(release)
  }

  /** One listener for all: Node.js reports the end to the first of several queued replies only. */
  #watch(): Set<() => void> {
    const releases = new Set<() => void>()
    this.#socket.once('close', () => {
      for (const each of releases) each()
      releases.clear()
    })
    return releases
  }
}

const connections = new WeakMap<Duplex, Connection>()

/** The connection of a socket. */
export function connectionOf(socket: Duplex): Connection {
  let connection = connections.get(socket)
  if (connection === undefined) connections.set(socket, (connection = new Connection(socket)))
  return connection
}
