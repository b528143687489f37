/**
 * The connections to one upstream. undici makes and keeps each; which of them sends a request is decided here. undici's own pool searches all
 * of them for a free one at each request: 5 % of a relayed call with 128 in flight, more of a batch (bench/connections.ts).
 */
import type { Socket } from 'node:net'
import { buildConnector, Client } from 'undici'
import type { Dispatcher } from 'undici'

/** Idle milliseconds after which a connection is closed: below the 5 s that common servers keep. */
const IDLE = 4_000
/** Milliseconds after which a connection is made anew, so that changes of the upstream's address are seen. */
const AGE = 600_000

/** Where they lead, and how many there may be. */
export interface ConnectionsOptions {
  /** Scheme, host and port. */
  readonly origin: string
  readonly most: number
  /** Milliseconds for a connection to be made. */
  readonly connectTimeout: number
  /** Milliseconds that a connection is used; ten minutes where nothing is said. */
  readonly age?: number
}

/** What hears of a request; a connection is its own until it is over. */
export interface Handler {
  /** Set when it is sent; to be told of the end, once. */
  connection: Pick<Connection, 'succeeded' | 'failed' | 'retire'> | null
  /** The upstream will send no more: what was read is to be taken in. undici asserts that nobody has paused it then. */
  onEnd(): void
  /** The request broke, or was never sent. */
  onError(error: Error): void
}

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- as Node declares it
type Listener = (...args: any[]) => void

interface Waiting {
  readonly request: Dispatcher.DispatchOptions
  readonly handler: Handler
}

/** One connection at a time, with one request at a time. */
class Connection {
  readonly client: Client
  readonly #owner: Connections
  readonly #ageing: NodeJS.Timeout
  /** Not for new requests. */
  isOld = false
  /** Who hears of the request in flight. */
  handler: Handler | null = null

  constructor(client: Client, owner: Connections, age: number) {
    this.client = client
    this.#owner = owner
    this.#ageing = setTimeout(() => {
      this.retire()
    }, age).unref()
    client.on('disconnect', () => {
      owner.closeIfIdle(this)
    })
  }

  /** Sends nothing more: too old, or it may still bring replies to what was answered. */
  retire(): void {
    this.isOld = true
    this.#owner.closeIfIdle(this)
  }

  /** Its reply is whole: it can send the next request. */
  succeeded(): void {
    this.#owner.free(this)
  }

  /** Its request broke, and it with it. */
  failed(): void {
    this.#owner.drop(this)
  }

  /** Has what undici does on an event of the socket cost its request when it throws, and not the process. */
  guard(socket: Socket): void {
    const on = socket.on.bind(socket) as (event: string | symbol, listener: Listener) => Socket
    // Each listener, and not `emit`: that is called for events that nobody hears, 1 % of a relayed call.
    socket.on = (event: string | symbol, listener: Listener) => on(event, this.#guarded(socket, listener))
    socket.on('end', () => this.handler?.onEnd())
  }

  #guarded(socket: Socket, listener: Listener): Listener {
    const guarded = (...args: unknown[]): void => {
      try {
        listener.apply(socket, args)
      } catch (error) {
        this.handler?.onError(error as Error)
        this.retire()
        void this.destroy().catch(() => undefined)
      }
    }
    // By this `removeListener` finds it, as it finds what `once` adds.
    return Object.assign(guarded, { listener })
  }

  /** Closes it behind what it sends. */
  async close(): Promise<void> {
    clearTimeout(this.#ageing)
    await this.client.close()
  }

  /** Cuts it. */
  async destroy(): Promise<void> {
    clearTimeout(this.#ageing)
    await this.client.destroy()
  }
}

/** Opened as requests come: thousands of routes may be named at once. */
export class Connections {
  readonly #options: ConnectionsOptions
  readonly #connect: buildConnector.connector
  readonly #open = new Set<Connection>()
  /** The one that was used last is used next: the others get old, and are closed. */
  readonly #idle: Connection[] = []
  readonly #waiting: Waiting[] = []
  #state: 'open' | 'closed' | 'destroyed' = 'open'
  #whenNone: (() => void)[] = []

  constructor(options: ConnectionsOptions) {
    this.#options = options
    this.#connect = buildConnector({ timeout: options.connectTimeout })
  }

  /** Sends one request, now or when a connection is free; `handler` hears what comes of it. Behind `close` it is sent too: it is a last one. */
  dispatch(request: Dispatcher.DispatchOptions, handler: Handler): void {
    if (this.#state === 'destroyed') handler.onError(new Error('the connections are cut'))
    else {
      const connection = this.#idle.pop() ?? this.#make()
      if (connection === null) this.#waiting.push({ request, handler })
      else send(connection, request, handler)
    }
  }

  /** Takes back a connection that can send the next request. */
  free(connection: Connection): void {
    connection.handler = null
    if (connection.isOld || this.#state !== 'open') this.drop(connection)
    else {
      const next = this.#waiting.shift()
      if (next === undefined) this.#idle.push(connection)
      else send(connection, next.request, next.handler)
    }
  }

  /** Lets go of a connection; another takes its place where requests wait. */
  drop(connection: Connection): void {
    if (!this.#open.delete(connection)) return
    void connection.close().catch(() => undefined)
    const next = this.#waiting.shift()
    if (next !== undefined) this.dispatch(next.request, next.handler)
    if (this.#open.size === 0) for (const resolve of this.#whenNone.splice(0)) resolve()
  }

  /** Closes a connection that sends nothing. */
  closeIfIdle(connection: Connection): void {
    const at = this.#idle.indexOf(connection)
    if (at < 0) return
    this.#idle.splice(at, 1)
    this.drop(connection)
  }

  /** Waits for what is in flight, and closes them. */
  async close(): Promise<void> {
    if (this.#state === 'open') this.#state = 'closed'
    for (const connection of this.#idle.splice(0)) this.drop(connection)
    if (this.#open.size > 0) await new Promise<void>(resolve => this.#whenNone.push(resolve))
  }

  /** Cuts them. */
  async destroy(): Promise<void> {
    this.#state = 'destroyed'
    for (const { handler } of this.#waiting.splice(0)) handler.onError(new Error('the connections are cut'))
    await Promise.all([...this.#open].map(connection => connection.destroy()))
  }

  /** One more; null when there are as many as there may be. */
  #make(): Connection | null {
    const { origin, most, age = AGE } = this.#options
    if (this.#open.size >= most) return null
    const connect: buildConnector.connector = (where, done) => {
      this.#connect(where, (...made) => {
        if (made[0] === null) connection.guard(made[1])
        done(...made)
      })
    }
    const client = new Client(origin, {
      pipelining: 1,
      keepAliveTimeout: IDLE,
      keepAliveMaxTimeout: IDLE,
      connect,
      // Each exchange keeps its own time.
      headersTimeout: 0,
      bodyTimeout: 0,
    })
    const connection: Connection = new Connection(client, this, age)
    this.#open.add(connection)
    return connection
  }
}

function send(connection: Connection, request: Dispatcher.DispatchOptions, handler: Handler): void {
  handler.connection = connection
  connection.handler = handler
  connection.client.dispatch(request, handler)
}
