/** Sends requests to one route over its connections, each sender within its share of them. */
import type { Departure } from '../../net/departure.ts'
import type { Raw } from '../../jsonrpc/raw.ts'
import type { Route } from '../../snapshot/types.ts'
import { Connections } from './connections.ts'
import { Collector } from './collector.ts'
import type { Exchange, ExchangeLimits } from './exchange.ts'
import { requestTarget } from './request-target.ts'
import type { RequestTarget } from './request-target.ts'
import type { RouteLimits } from '../route-limits.ts'
import { DIVISIBLE_FROM, FairShare } from '../../limits/fair-share.ts'

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
  post(body: Raw, limits: ExchangeLimits, sender: Sender, done: (exchange: Exchange) => void): void {
    this.#send(`${this.#head}${body.length}\r\n\r\n${body}`, limits, sender, done)
  }

  /** Fetches a path below the route's URL. */
  get(path: string, limits: ExchangeLimits, sender: Sender, done: (exchange: Exchange) => void): void {
    const { path: base, fields } = this.#target
    const [, before = '', query = ''] = /^([^?]*)(.*)$/.exec(base) ?? []
    const whole = before.replace(/\/+$/, '') + path + query
    this.#send(`GET ${whole} HTTP/1.1\r\n${fields}\r\n`, limits, sender, done)
  }

  #send(text: Raw, limits: ExchangeLimits, sender: Sender, done: (exchange: Exchange) => void): void {
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

  /** Waits for calls in flight, then closes the connections. */
  close(): Promise<void> {
    return this.#connections.close()
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

/** Callers that are looked at for the next turn. */
const LOOKED_AT = 256

/** A request that is to be sent. */
export interface Turn {
  /** Undefined for questions of our own, which wait for nobody. */
  readonly caller: string | undefined
  /** Whether the caller still waits for the answer; one that does not is notified in its turn. */
  readonly isWanted: boolean
  /** Sends it. */
  begin(): void
  state: 'waiting' | 'begun' | 'over'
}

/** Lets so many requests be under way at a time. */
export class FairQueue {
  readonly #share: FairShare
  /** By caller; who waits longest comes first. Those who wait no more leave at once, from wherever they stand. */
  readonly #waiting = new Map<string, Set<Turn>>()
  #isBeginning = false
  /** Places given back that nobody has been looked for yet. */
  #free = 0

  constructor(most: number) {
    this.#share = new FairShare(() => most, { from: DIVISIBLE_FROM })
  }

  /** Begins it now, or when the caller's turn has come. */
  enter(turn: Turn): void {
    const { caller } = turn
    if (caller === undefined || (!this.#waiting.has(caller) && this.#share.fits(1, caller))) this.#begin(turn)
    else {
      const line = this.#waiting.get(caller)
      if (line === undefined) this.#waiting.set(caller, new Set([turn]))
      else line.add(turn)
    }
  }

  /** Ends a turn, whether it has begun or not. */
  leave(turn: Turn): void {
    const { state, caller } = turn
    turn.state = 'over'
    if (state === 'waiting' && caller !== undefined) this.#remove(turn, caller)
    if (state !== 'begun') return
    this.#share.giveBack(1, caller)
    if (this.#waiting.size > 0) this.#beginNext()
  }

  /** Turns may be over as soon as they begin, a thousand one behind the other: none begins within another. */
  #beginNext(): void {
    this.#free += 1
    if (this.#isBeginning) return
    this.#isBeginning = true
    try {
      for (; this.#free > 0; this.#free -= 1) this.#next()
    } finally {
      this.#isBeginning = false
    }
  }

  #begin(turn: Turn): void {
    turn.state = 'begun'
    this.#share.take(1, turn.caller)
    turn.begin()
  }

  #next(): void {
    const caller = this.#first()
    const line = caller === undefined ? undefined : this.#waiting.get(caller)
    if (caller === undefined || line === undefined) return
    const [turn] = line
    if (turn === undefined) return
    line.delete(turn)
    // Its next one comes behind those of everybody else.
    this.#waiting.delete(caller)
    if (line.size > 0) this.#waiting.set(caller, line)
    this.#begin(turn)
  }

  #remove(turn: Turn, caller: string): void {
    const line = this.#waiting.get(caller)
    if (line?.delete(turn) === true && line.size === 0) this.#waiting.delete(caller)
  }

  /** Whose turn it is, of those who have waited longest. */
  #first(): string | undefined {
    let first: string | undefined
    let fewest = Infinity
    let seen = 0
    for (const [caller, line] of this.#waiting) {
      for (const turn of line)
        if (turn.isWanted) break
        else line.delete(turn)
      if (line.size === 0) this.#waiting.delete(caller)
      else if (this.#share.fits(1, caller) && this.#share.heldBy(caller) < fewest) {
        first = caller
        fewest = this.#share.heldBy(caller)
      }
      seen += 1
      if (fewest === 0 || seen === LOOKED_AT) break
    }
    return first
  }
}
