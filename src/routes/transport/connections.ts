/** The connections to one upstream. */
import { Pool } from 'undici'
import type { Dispatcher } from 'undici'

/** Idle milliseconds after which a connection is closed: below the 5 s that common servers keep. */
const IDLE = 4_000
/** Milliseconds after which connections are made anew, so that changes of the upstream's address are seen. */
const AGE = 600_000

const monotonic = (): number => performance.now()

/** Where they lead, and how many there may be. */
export interface ConnectionsOptions {
  /** Scheme, host and port. */
  readonly origin: string
  readonly most: number
  /** Milliseconds for a connection to be made. */
  readonly connectTimeout: number
  /** Tells milliseconds. */
  readonly now?: () => number
}

/** Opened by the first request: thousands of routes may be named at once. */
export class Connections {
  readonly #options: ConnectionsOptions
  #pool: Pool | null = null
  #since = 0
  /** Too old for new requests; each closes after its last. */
  readonly #old = new Set<Pool>()
  #closed = false

  constructor(options: ConnectionsOptions) {
    this.#options = options
  }

  /** Sends one request; `handler` hears what comes of it. */
  dispatch(request: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void {
    const pool = this.#current()
    pool.dispatch(request, handler)
    // Sent to a route that was chosen while it still served: its last call.
    if (this.#closed) void pool.close().catch(() => undefined)
  }

  /** Waits for what is under way, then closes them. */
  async close(): Promise<void> {
    this.#closed = true
    await Promise.all([this.#pool?.close(), ...[...this.#old].map(pool => pool.close())])
  }

  /** Cuts them. */
  async destroy(): Promise<void> {
    this.#closed = true
    await Promise.all([this.#pool?.destroy(), ...[...this.#old].map(pool => pool.destroy())])
  }

  #current(): Pool {
    const now = (this.#options.now ?? monotonic)()
    // undici's own clientTtl looks at the age of every busy connection at every call.
    if (this.#pool !== null && !this.#closed && now - this.#since > AGE) {
      this.#retire(this.#pool)
      this.#pool = null
    }
    if (this.#pool === null) {
      this.#pool = this.#open()
      this.#since = now
    }
    return this.#pool
  }

  #retire(pool: Pool): void {
    this.#old.add(pool)
    void pool.close().then(() => this.#old.delete(pool))
  }

  #open(): Pool {
    const { origin, most, connectTimeout } = this.#options
    return new Pool(origin, {
      connections: most,
      pipelining: 1,
      keepAliveTimeout: IDLE,
      keepAliveMaxTimeout: IDLE,
      connect: { timeout: connectTimeout },
      // Each exchange keeps its own time.
      headersTimeout: 0,
      bodyTimeout: 0,
    })
  }
}
