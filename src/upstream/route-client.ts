/** Sends requests to one route over its connections, each sender within its share of them. */
import type { Dispatcher } from 'undici'
import type { Raw } from '../jsonrpc/raw.ts'
import type { Route } from '../snapshot/types.ts'
import { Connections } from './connections.ts'
import { Collector } from './exchange.ts'
import type { Exchange, ExchangeLimits } from './exchange.ts'
import { FairQueue } from './fair-queue.ts'
import type { Turn } from './fair-queue.ts'
import { requestTarget } from './request-target.ts'
import type { RequestTarget } from './request-target.ts'
import type { Room } from './room.ts'

/** Connections to an upstream whose route sets no limit. */
const CONNECTIONS = 256

/** Who sends a request. */
export interface Sender {
  /** Undefined for questions of our own. */
  readonly caller: string | undefined
  /** Called when the request has its turn and is sent. */
  readonly begun: () => void
  /** Aborted when the sender wants no reply any more; asked for only where the request has to wait. */
  readonly gone: () => AbortSignal | null
}

/** The sender of questions of our own. */
export const OWN: Sender = { caller: undefined, begun: () => undefined, gone: () => null }

/** The HTTP client of one route. */
export class RouteClient {
  readonly #target: RequestTarget
  readonly #connections: Connections
  readonly #queue: FairQueue
  readonly #room: Room

  /** `connectTimeout` in milliseconds; `room` counts what is under way or waits for its turn. */
  constructor(route: Route, connectTimeout: number, room: Room) {
    const most = route.limits.inFlight ?? CONNECTIONS
    this.#target = requestTarget(route)
    this.#connections = new Connections({ origin: this.#target.origin, most, connectTimeout })
    this.#queue = new FairQueue(most)
    this.#room = room
  }

  /** Posts a body; `done` is told of the reply, or of what broke it. */
  post(body: Raw, limits: ExchangeLimits, sender: Sender, done: (exchange: Exchange) => void): void {
    const { path, headers } = this.#target
    this.#dispatch({ path, method: 'POST', headers, body: Buffer.from(body, 'latin1') }, limits, sender, done)
  }

  /** Fetches a path below the route's URL. */
  get(path: string, limits: ExchangeLimits, sender: Sender, done: (exchange: Exchange) => void): void {
    const { path: base, headers } = this.#target
    const [before = '', query] = base.split('?', 2)
    const whole = before.replace(/\/+$/, '') + path + (query === undefined ? '' : `?${query}`)
    this.#dispatch({ path: whole, method: 'GET', headers }, limits, sender, done)
  }

  #dispatch(
    request: Omit<Dispatcher.DispatchOptions, 'origin'>,
    limits: ExchangeLimits,
    { caller, begun, gone }: Sender,
    done: (exchange: Exchange) => void,
  ): void {
    this.#room.enter(caller)
    const collector = new Collector(limits, exchange => {
      // An open reply keeps its connection until it has been read.
      if (exchange.kind === 'open') exchange.tail.once('close', leave)
      else leave()
      done(exchange)
    })
    let signal: AbortSignal | null = null
    const giveUp = (): void => {
      collector.break('no_turn')
    }
    const begin = (): void => {
      signal?.removeEventListener('abort', giveUp)
      collector.begin()
      begun()
      this.#connections.dispatch(request, collector)
    }
    const turn: Turn = { caller, begin, state: 'waiting' }
    const leave = (): void => {
      // A socket's signal outlives its calls.
      signal?.removeEventListener('abort', giveUp)
      this.#room.leave(caller)
      this.#queue.leave(turn)
    }
    this.#queue.enter(turn)
    if (turn.state !== 'waiting') return
    collector.wait()
    signal = gone()
    if (signal?.aborted === true) giveUp()
    else signal?.addEventListener('abort', giveUp)
  }

  /** Waits for calls in flight, then closes the connections. */
  close(): Promise<void> {
    return this.#connections.close()
  }

  /** Cuts the connections. */
  destroy(): Promise<void> {
    return this.#connections.destroy()
  }
}
