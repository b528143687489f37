/** A route while it lives: its connections, its health and what is known of its pace. */
import { Pool } from 'undici'
import type { Raw } from '../jsonrpc/raw.ts'
import type { Route } from '../snapshot/types.ts'
import { Breaker } from './breaker.ts'
import { Collector } from './exchange.ts'
import type { Exchange, ExchangeLimits } from './exchange.ts'
import { judge } from './verdict.ts'
import type { Verdict } from './verdict.ts'

/** Idle milliseconds after which a connection is closed: below the 5 s that common servers keep. */
const POOL_IDLE = 4_000
/** Age in milliseconds after which connections are made anew, so that DNS changes are seen. */
const POOL_AGE = 600_000

/** Bytes of an answer to a question of our own. */
const MAX_PROBE = 1024 * 1024
/** Share of the newest answer in the moving average. */
const LATENCY_WEIGHT = 0.1

/** One way to an upstream; opened when the snapshot names it, closed when it no longer does. */
export class LiveRoute {
  readonly id: string
  readonly breaker = new Breaker()
  inFlight = 0
  /** Moving average of how long answers take, in milliseconds. */
  latencyMs = 0
  readonly #pool: Pool
  readonly #path: string
  readonly #headers: Record<string, string>

  constructor(route: Route, connectTimeout: number) {
    const url = new URL(route.http)
    this.id = route.id
    this.#path = url.pathname + url.search
    this.#headers = { ...route.headers, 'content-type': 'application/json', accept: 'application/json' }
    if (url.username !== '' && !hasHeader(route.headers, 'authorization'))
      this.#headers['authorization'] = basicAuth(url)
    this.#pool = new Pool(url.origin, {
      connections: route.limits.inFlight ?? 256,
      pipelining: 1,
      keepAliveTimeout: POOL_IDLE,
      keepAliveMaxTimeout: POOL_IDLE,
      clientTtl: POOL_AGE,
      connect: { timeout: connectTimeout },
      headersTimeout: 0,
      bodyTimeout: 60_000,
    })
  }

  /** Sends one call under `id` and says what came of it; keeps the breaker up to date. `now` in milliseconds. */
  async ask(body: Raw, id: number, limits: ExchangeLimits, now: () => number): Promise<Verdict> {
    const begin = performance.now()
    const verdict = judge(await this.exchange(body, limits), id)
    if (verdict.kind === 'setback') {
      if (verdict.fault) this.breaker.failed(verdict.why, now())
    } else {
      this.breaker.succeeded()
      this.latencyMs +=
        (performance.now() - begin - this.latencyMs) * (this.latencyMs === 0 ? 1 : LATENCY_WEIGHT)
    }
    return verdict
  }

  /** Asks the node something of our own, without a word about its health. */
  async probe(method: string, timeout: number): Promise<Verdict> {
    const body = `{"jsonrpc":"2.0","id":1,"method":"${method}","params":[]}`
    return judge(await this.exchange(body, { timeout, holdBack: Infinity, maxBytes: MAX_PROBE }), 1)
  }

  /** Sends one request body and waits for the reply, or for what broke it. */
  exchange(
    body: Raw,
    limits: ExchangeLimits,
    onCollector?: (collector: Collector) => void,
  ): Promise<Exchange> {
    this.inFlight += 1
    return new Promise(resolve => {
      const collector = new Collector(limits, exchange => {
        this.inFlight -= 1
        resolve(exchange)
      })
      onCollector?.(collector)
      const request = {
        path: this.#path,
        method: 'POST',
        headers: this.#headers,
        body: Buffer.from(body, 'latin1'),
      }
      this.#pool.dispatch(request, collector)
    })
  }

  /** Waits for calls in flight, then closes the connections. */
  async close(): Promise<void> {
    await this.#pool.close()
  }

  /** Cuts the connections. */
  async destroy(): Promise<void> {
    await this.#pool.destroy()
  }
}

function hasHeader(headers: Readonly<Record<string, string>>, wanted: string): boolean {
  return Object.keys(headers).some(name => name.toLowerCase() === wanted)
}

function basicAuth(url: URL): string {
  const pair = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`
  return `Basic ${Buffer.from(pair).toString('base64')}`
}
