/** The connections to one upstream, and which of them sends a request. */
import { isIP } from 'node:net'
import type { LongText } from '../../jsonrpc/long-text.ts'
import type { Raw } from '../../jsonrpc/raw.ts'
import { Connection } from './connection.ts'
import type { Handler, Origin, Owner, Request } from './connection.ts'

/** Milliseconds after which a connection is made anew, so that changes of the upstream's address are seen. */
const AGE = 600_000
/** Replies one behind the other that left their connections open, after which an upstream is trusted to say when it closes one. */
const TRUSTED_AFTER = 100

/** Where they lead, and how many there may be. */
export interface ConnectionsOptions {
  /** Scheme, host and port. */
  readonly origin: string
  /** The name whose certificate is trusted over TLS; the host of the origin where it is null, or nothing is said. */
  readonly servername?: string | null
  readonly most: number
  /** Milliseconds for a connection to be made. */
  readonly connectTimeout: number
  /** Milliseconds that a connection is used; ten minutes where nothing is said. */
  readonly age?: number
}

/** Opened as requests come: thousands of routes may be named at once. */
export class Connections implements Owner {
  readonly #origin: Origin
  readonly #most: number
  readonly #age: number
  readonly #open = new Set<Connection>()
  /** The one that was used last is used next: the others get old, and are closed. */
  readonly #idle: Connection[] = []
  readonly #waiting = new Map<Handler, Request>()
  /** Those that are given a turn of the event loop, by the requests that are sent over them then. */
  readonly #watched = new Map<Handler, Connection>()
  /** Replies since a connection was last closed where it might have been used again. */
  #kept = 0
  /** Closes the next idle connection whose time is up, and when that is. */
  #closing: NodeJS.Timeout | null = null
  #closingAt = Infinity
  #state: 'open' | 'closed' | 'destroyed' = 'open'
  #whenNone: (() => void)[] = []

  constructor({ origin, servername, most, connectTimeout, age = AGE }: ConnectionsOptions) {
    const url = new URL(origin)
    const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
    const name = servername ?? (isIP(host) === 0 ? host : undefined)
    this.#origin = { url, host, servername: name, connectTimeout, session: undefined }
    this.#most = most
    this.#age = age
  }

  /**
   * Sends one request, `text` as it stands, now or when a connection is free; `handler` hears what comes of it. Behind `close` it is sent too: it
   * is a last one.
   */
  dispatch(text: Raw | LongText, handler: Handler): void {
    this.#dispatch({ text, handler })
  }

  /** Forgets a request that was not sent, and of which nobody wants to hear: the next one takes its place. */
  withdraw(handler: Handler): void {
    if (this.#waiting.delete(handler)) return
    const watched = this.#watched.get(handler)
    if (watched !== undefined) {
      this.#watched.delete(handler)
      if (!watched.isOver) this.free(watched, false)
      return
    }
    for (const connection of this.#open)
      if (connection.isFor(handler)) {
        const next = this.#next()
        if (next === undefined) connection.destroy()
        else connection.send(next)
        return
      }
  }

  free(connection: Connection, isReused: boolean): void {
    if (isReused) this.#kept += 1
    const next = this.#next()
    if (next !== undefined) this.#use(connection, next)
    else if (this.#state === 'open') this.#rest(connection)
    else connection.destroy()
  }

  drop(connection: Connection, byUpstream: boolean): void {
    if (!this.#open.delete(connection)) return
    if (byUpstream) this.#kept = 0
    const at = this.#idle.indexOf(connection)
    if (at >= 0) this.#idle.splice(at, 1)
    const next = this.#next()
    if (next !== undefined) this.#dispatch(next)
    if (this.#open.size === 0) for (const resolve of this.#whenNone.splice(0)) resolve()
  }

  /** Waits for requests in flight and those without a connection yet, then closes all connections. */
  async close(): Promise<void> {
    if (this.#state === 'open') this.#state = 'closed'
    for (const connection of [...this.#idle]) connection.destroy()
    if (this.#open.size > 0) await new Promise<void>(resolve => this.#whenNone.push(resolve))
  }

  /** Cuts them. */
  async destroy(): Promise<void> {
    this.#state = 'destroyed'
    for (let next = this.#next(); next !== undefined; next = this.#next()) next.handler.onError(CUT)
    await Promise.all(
      [...this.#open].map(connection => {
        connection.destroy()
        return connection.closed()
      }),
    )
  }

  #dispatch(request: Request): void {
    if (this.#state === 'destroyed') {
      request.handler.onError(CUT)
      return
    }
    const connection = this.#idle.pop()
    if (connection !== undefined) this.#use(connection, request)
    else if (this.#open.size < this.#most) this.#make().send(request)
    else this.#waiting.set(request.handler, request)
  }

  /** Takes the one that has waited longest. */
  #next(): Request | undefined {
    const [next] = this.#waiting.values()
    if (next !== undefined) this.#waiting.delete(next.handler)
    return next
  }

  /**
   * Sends over a connection that was used before. Of an upstream that closes connections without a word the end may have come behind the reply, and not
   * been read yet: it is given a turn of the event loop to show.
   */
  #use(connection: Connection, request: Request): void {
    if (this.#kept >= TRUSTED_AFTER) {
      connection.send(request)
      return
    }
    this.#watched.set(request.handler, connection)
    setImmediate(() => {
      setImmediate(() => {
        // Whose request was withdrawn has left the connection to others.
        if (!this.#watched.delete(request.handler)) return
        if (connection.isOver) this.#dispatch(request)
        else connection.send(request)
      })
    })
  }

  #make(): Connection {
    const connection = new Connection(this.#origin, this, this.#age)
    this.#open.add(connection)
    return connection
  }

  /** Keeps it for the next request, for as long as it may be idle: another one may be kept longer, whatever replies brought there. */
  #rest(connection: Connection): void {
    connection.idleSince = performance.now()
    this.#idle.push(connection)
    this.#closeAt(connection.idleSince + connection.keptFor, connection.keptFor)
  }

  #closeAt(at: number, ms: number): void {
    if (at >= this.#closingAt) return
    clearTimeout(this.#closing ?? undefined)
    this.#closingAt = at
    this.#closing = setTimeout(this.#closeIdle, ms).unref()
  }

  /** Closes those that have been idle for too long. */
  readonly #closeIdle = (): void => {
    this.#closingAt = Infinity
    const now = performance.now()
    let next = Infinity
    for (const connection of [...this.#idle]) {
      const left = connection.idleSince + connection.keptFor - now
      if (left <= 0) connection.destroy()
      else next = Math.min(next, left)
    }
    if (next < Infinity) this.#closeAt(now + next, next)
  }
}

const CUT = new Error('the connections are cut')
