/** Sends requests to one route over its connections, each sender within its share of them. */
import type { Departure } from '../../net/departure.ts'
import { trimSlashes } from '../../net/http-path.ts'
import type { LongText } from '../../jsonrpc/long-text.ts'
import type { Raw } from '../../jsonrpc/raw.ts'
import type { Route } from '../../snapshot/types.ts'
import { Connections } from './connections.ts'
import { Collector } from './collector.ts'
import type { Exchange, ExchangeLimits } from './exchange.ts'
import { FairQueue } from './fair-queue.ts'
import type { Turn } from './fair-queue.ts'
import { requestTarget } from './request-target.ts'
import type { RequestTarget } from './request-target.ts'
import type { RouteLimits } from '../route-limits.ts'

/** Connections to an upstream whose route sets no limit. */
const CONNECTIONS = 256

/** Who sends a request. */
export interface Sender {
  /** Undefined for questions of our own. */
  readonly caller: string | undefined
  /** Whether what it sends has entered the route's limits already, and leaves them without help. */
  readonly isCounted?: true
  /** Called when the request has its turn and is sent. */
  readonly begun: () => void
  /** Of whoever wants the reply; asked for only where the request has to wait. */
  readonly departure: () => Departure | null
  /** What is said of the trace of a request that is posted; absent or null where nothing is. */
  readonly traceparent?: string | null
}

/** The sender of questions of our own. */
export const OWN: Sender = { caller: undefined, begun: () => undefined, departure: () => null }

/** The HTTP client of one route. */
export class RouteClient {
  readonly #target: RequestTarget
  /** Of a request that posts a call, up to how long that is. */
  readonly #head: Raw
  readonly #connections: Connections
  readonly #queue: FairQueue
  readonly #room: RouteLimits

  /** `connectTimeout` in milliseconds; `room` counts what is under way or waits for its turn. */
  constructor(route: Route, connectTimeout: number, room: RouteLimits) {
    const most = room.bound ?? CONNECTIONS
    this.#target = requestTarget(route)
    this.#head = `POST ${this.#target.path} HTTP/1.1\r\n${this.#target.fields}content-length: `
    const { origin, servername } = this.#target
    this.#connections = new Connections({ origin, servername, most, connectTimeout })
    this.#queue = new FairQueue(most)
    this.#room = room
  }

  /** Posts a body; `done` is told of the reply, or of what broke it. */
  post(
    body: Raw | LongText,
    limits: ExchangeLimits,
    sender: Sender,
    done: (exchange: Exchange) => void,
  ): void {
    const { traceparent = null } = sender
    const trace = traceparent === null ? '' : `traceparent: ${traceparent}\r\n`
    const head = `${this.#head}${body.length}\r\n${trace}\r\n`
    this.#send(typeof body === 'string' ? head + body : body.behind(head), limits, sender, done)
  }

  /** Fetches a path below the route's URL. */
  get(path: string, limits: ExchangeLimits, sender: Sender, done: (exchange: Exchange) => void): void {
    const { path: base, fields } = this.#target
    const [, before = '', query = ''] = /^([^?]*)(.*)$/.exec(base) ?? []
    const whole = trimSlashes(before) + path + query
    this.#send(`GET ${whole} HTTP/1.1\r\n${fields}\r\n`, limits, sender, done)
  }

  #send(
    text: Raw | LongText,
    limits: ExchangeLimits,
    sender: Sender,
    done: (exchange: Exchange) => void,
  ): void {
    if (sender.isCounted !== true) this.#room.enter(sender.caller)
    const collector = new Collector(limits, exchange => {
      if (exchange.kind === 'broken' && !exchange.sent) this.#connections.withdraw(collector)
      // An open reply keeps its connection until it has been read.
      if (exchange.kind === 'open') exchange.tail.once('close', leave)
      else leave()
      done(exchange)
    })
    const turn = new SentInTurn(sender, collector, () => {
      this.#connections.dispatch(text, collector)
    })
    const leave = (): void => {
      turn.stay()
      if (sender.isCounted !== true) this.#room.leave(sender.caller)
      this.#queue.leave(turn)
    }
    this.#queue.enter(turn)
    if (turn.state === 'waiting') turn.wait()
  }

  /** Waits for calls in flight and those that wait for their turn, then closes the connections. */
  async close(): Promise<void> {
    await this.#queue.idle()
    await this.#connections.close()
  }

  /** Cuts the connections. */
  destroy(): Promise<void> {
    return this.#connections.destroy()
  }
}

/** One request in the queue for a connection. */
class SentInTurn implements Turn {
  state: Turn['state'] = 'waiting'
  readonly #sender: Sender
  readonly #collector: Collector
  readonly #send: () => void
  /** The sender's, while it is listened to. */
  #departure: Departure | null = null

  constructor(sender: Sender, collector: Collector, send: () => void) {
    this.#sender = sender
    this.#collector = collector
    this.#send = send
  }

  get caller(): string | undefined {
    return this.#sender.caller
  }

  get isWanted(): boolean {
    return this.#departure?.isOver !== true
  }

  begin(): void {
    this.stay()
    this.#collector.begin()
    this.#sender.begun()
    this.#send()
  }

  /** Waits for its turn, for as long as the sender does. */
  wait(): void {
    this.#collector.wait()
    this.#departure = this.#sender.departure()
    if (this.#departure?.isOver === true) this.#giveUp()
    else this.#departure?.on(this.#giveUp)
  }

  /** No longer asks whether the sender is there: a socket outlives its calls. */
  stay(): void {
    this.#departure?.off(this.#giveUp)
    this.#departure = null
  }

  readonly #giveUp = (): void => {
    this.#collector.break('client_left')
  }
}
