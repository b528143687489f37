/**
 * What is known of one client connection, from its first byte to its end: one object, found by its socket. It bounds the requests in flight:
 * a client can pipeline thousands; the one over the bound waits here, and what follows it is neither parsed nor read meanwhile.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Budget, ByteBudget } from '../limits/byte-budget.ts'
import { ParserBrake } from './connections/parser-brake.ts'

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

/** A request and its reply on their connection. */
export interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** Whether work on it has begun. */
  isBegun: boolean
  readonly start: (exchange: Exchange, connection: Connection) => void
}

/** Requests that may wait on a connection, as a multiple of those in flight; with one more it is destroyed. */
const MAX_WAITING = 4

/** One connection. A field belongs to the file that its comment names, which alone writes it. */
export class Connection {
  /** Its other end; null until it is read (address.ts). */
  address: ClientAddress | null = null
  /** What its replies draw on while the client has not taken them; null where nothing counts them (public-listener.ts). */
  budget: Budget | null = null
  /** When it last moved; null before the first check (connections/idle-reply.ts). */
  movement: Movement | null = null
  /** Whether its reply may be silent for as long as it lasts, as an event stream is (connections/idle-reply.ts). */
  mayIdle = false
  /** Whether it ends with a reply that has said so: what comes behind is not answered (body.ts). */
  isEnding = false
  /** Whether something was asked on it, here or where it was served before: it may be silent for as long as any that is kept. */
  isKept = false
  /** Whether a request that cannot be read was answered: the parser fails again with each piece that follows (connections/client-error.ts). */
  isRefused = false
  /** Upgrades that were declined on it (websocket/decline-upgrade.ts). */
  declined = 0
  /** Stops its parser between two requests; null where nobody controls that, and only reading stops. */
  brake: ParserBrake | null = null
  /** The request that came last, while any is in flight. */
  newest: Exchange | null = null
  #running = 0
  /** How many may be, by the strictest of them. */
  #limit = Infinity
  /** Whether as many are in flight as may be: the parser stops behind the next one. */
  #isFull = false
  /** Whether a request waits for its turn of the event loop. */
  #isDeferred = false
  readonly #waiting: Exchange[] = []
  /** What has to wait until every earlier request is over. */
  #last: (() => void) | null = null
  #whenGone: Set<() => void> | null = null
  readonly #socket: Duplex

  constructor(socket: Duplex) {
    this.#socket = socket
  }

  /** Whether a reply is in flight. */
  get isBusy(): boolean {
    return this.#running > 0
  }

  /** Takes control of the parser; to be called whenever Node has begun to parse on the connection. */
  control(socket: Socket, budget: ByteBudget | null): void {
    this.brake = new ParserBrake(socket, budget)
  }

  /** Starts a request, at most `limit` at a time, in the order they came. */
  enter(exchange: Exchange, limit: number): void {
    this.newest = exchange
    // This is the one listener that is told of its end: two make a list, which V8 came to keep in the old part of the heap, with all that
    // the reply holds (docs/decisions/code.md).
    exchange.response.on('close', this.#replyIsOver)
    this.#limit = this.#running === 0 ? limit : Math.min(this.#limit, limit)
    if (this.#running < this.#limit) {
      this.#running += 1
      this.#isFull = this.#running >= this.#limit
      if (this.#isFull && this.brake !== null) this.brake.full = true
      exchange.start(exchange, this)
      return
    }
    this.#waiting.push(exchange)
    if (this.#waiting.length > MAX_WAITING * limit) this.#socket.destroy()
    else this.#socket.pause()
  }

  /** Runs `work` when no earlier request is in flight: replies keep the order of their requests. */
  whenIdle(work: () => void): void {
    if (this.#running === 0) work()
    else this.#last = work
  }

  /** Calls `release` when the connection is gone; until then the function returned takes it back, and says whether it was waiting. */
  whenGone(release: () => void): () => boolean {
    const releases = (this.#whenGone ??= this.#watch())
    releases.add(release)
    return () => releases.delete(release)
  }

  readonly #replyIsOver = (): void => {
    const socket = this.#socket
    const wasFull = this.#isFull
    // Behind a reply that ends the connection nothing more is begun.
    const next = socket.writable ? this.#waiting.shift() : undefined
    if (next === undefined) {
      this.#running -= 1
      this.#isFull = false
      if (wasFull && this.brake !== null) this.brake.full = this.#isDeferred
    } else next.start(next, this)
    if (this.#running === 0) {
      const last = this.#last
      this.newest = null
      this.#last = null
      last?.()
    }
    if (!wasFull || this.#isDeferred || this.#waiting.length > 0 || socket.destroyed) return
    if (this.brake !== null) this.brake.release()
    else if (socket.isPaused()) socket.resume()
  }

  /** Stops the parser until the request that was started has its turn. */
  pauseParser(): void {
    this.#isDeferred = true
    if (this.brake !== null) this.brake.full = true
  }

  /** That request has its turn: the parser goes on. */
  resumeParser(): void {
    if (!this.#isDeferred) return
    this.#isDeferred = false
    if (this.brake === null) return
    this.brake.full = this.#isFull
    // Also where as many are in flight as may be: the parser may have stopped before the body of the last of them.
    if (this.#waiting.length === 0) this.brake.release()
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

/**
 * The connections of one server on which something was asked, and how their replies become the last ones: `server.close` says nothing to clients
 * who keep their connections.
 */
export class ServerConnections {
  /** Requests that each may have in flight. */
  limit = Infinity
  readonly #open = new Map<Socket, Connection>()
  #isEnding = false

  /** Runs `start` now, or when an earlier request of the connection is over. */
  enter(request: IncomingMessage, response: ServerResponse, start: Exchange['start']): void {
    // Nobody would read the answer of what is charged.
    if (!request.socket.writable) return
    const connection = this.#of(request.socket)
    if (this.#isEnding) {
      const before = connection.newest?.response
      if (before !== undefined && !connection.isEnding) {
        // It was to be the last, and this request was sent behind it in good faith.
        if (!before.headersSent) before.shouldKeepAlive = true
        // It has said so, and waits for its turn to be read: this one is neither answered nor charged, and the client sends it again.
        else if (!before.shouldKeepAlive) return
      }
      response.shouldKeepAlive = false
    }
    connection.enter({ request, response, isBegun: false, start }, this.#limitOf(request))
  }

  /** A reply of HTTP/1.0 may turn out to end its connection, and what was sent behind it would be lost: it is alone in flight. */
  #limitOf({ httpVersion }: IncomingMessage): number {
    return httpVersion === '1.0' ? 1 : this.limit
  }

  /** Each that is open. */
  all(): Iterable<readonly [Socket, Connection]> {
    return this.#open
  }

  /** Takes a connection in on which something was asked before. */
  keep(socket: Socket): void {
    this.#of(socket)
  }

  /** A connection leaves HTTP. */
  forget(socket: Socket): void {
    this.#open.delete(socket)
  }

  /**
   * From now on the newest reply of each connection says `Connection: close`, and the connection ends behind it. One that has said already
   * that it is kept says so with the reply after.
   */
  end(): void {
    this.#isEnding = true
    for (const { newest } of this.#open.values())
      if (newest?.response.headersSent === false) newest.response.shouldKeepAlive = false
  }

  #of(socket: Socket): Connection {
    const known = this.#open.get(socket)
    if (known !== undefined) return known
    const connection = connectionOf(socket)
    this.#open.set(socket, connection)
    connection.isKept = true
    socket.once('close', () => this.#open.delete(socket))
    return connection
  }
}

const byServer = new WeakMap<Server, ServerConnections>()

/** The connections of a server. */
export function connectionsOf(server: Server): ServerConnections {
  let asked = byServer.get(server)
  if (asked === undefined) byServer.set(server, (asked = new ServerConnections()))
  return asked
}
