/**
 * Bounds the calls in flight of one connection. A client can pipeline thousands; the one over the bound waits here, and what follows it is
 * neither parsed nor read meanwhile.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { ByteBudget } from '../../limits/byte-budget.ts'
import { ParserBrake } from './parser-brake.ts'
import type { Replies, ReplyLine, WhenOver } from '../replies/replies.ts'

/** A request and its reply on their connection. */
export interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  started: boolean
  readonly start: () => void
}

/** Requests that may wait on a connection, as a multiple of those in flight; with one more it is destroyed. */
const MAX_WAITING = 4

/** One connection. */
class Line implements WhenOver {
  running = 0
  readonly waiting: Exchange[] = []
  /** The one that came last; null when none is under way. */
  newest: Exchange | null = null
  /** What has to wait until every earlier request is over. */
  last: (() => void) | null = null
  readonly replies: ReplyLine
  /** Null where nobody told the gate of the connection: then only reading stops. */
  brake: ParserBrake | null
  readonly #socket: Socket

  constructor(socket: Socket, replies: ReplyLine, brake: ParserBrake | null) {
    this.#socket = socket
    this.replies = replies
    this.brake = brake
  }

  replyIsOver(): void {
    const socket = this.#socket
    const next = socket.destroyed ? undefined : this.waiting.shift()
    if (next === undefined) {
      this.running -= 1
      if (this.brake !== null) this.brake.full = false
    } else begin(next)
    if (this.running === 0) {
      const { last } = this
      this.newest = null
      this.last = null
      last?.()
    }
    if (this.waiting.length > 0 || socket.destroyed) return
    if (this.brake !== null) this.brake.release()
    else if (socket.isPaused()) socket.resume()
  }
}

/** Starts requests, at most `limit` at a time for each connection, in the order they came. */
export class SocketGate {
  readonly #limit: number
  readonly #lines = new WeakMap<Socket, Line>()
  readonly #brakes = new WeakMap<Socket, ParserBrake>()
  readonly #replies: Replies
  readonly #budget: ByteBudget | null

  constructor(limit: number, replies: Replies, budget: ByteBudget | null = null) {
    this.#limit = limit
    this.#budget = budget
    this.#replies = replies
  }

  /** Takes control of a connection's parser; to be called whenever Node has begun to parse on it. */
  control(socket: Socket): void {
    const brake = new ParserBrake(socket, this.#budget)
    this.#brakes.set(socket, brake)
    const line = this.#lines.get(socket)
    if (line === undefined) return
    line.brake = brake
    brake.full = line.running >= this.#limit
  }

  /** The brake of a connection whose parser reported an error. */
  brakeOf(socket: Socket): ParserBrake | null {
    return this.#brakes.get(socket) ?? null
  }

  /** Runs `start` now or when an earlier request of the connection is over. */
  enter(request: IncomingMessage, response: ServerResponse, start: () => void): void {
    const { socket } = request
    const line = this.#lineOf(socket)
    const exchange: Exchange = { request, response, started: false, start }
    line.newest = exchange
    line.replies.begin(response, line)
    if (line.running < this.#limit) {
      line.running += 1
      if (line.running >= this.#limit && line.brake !== null) line.brake.full = true
      begin(exchange)
      return
    }
    line.waiting.push(exchange)
    if (line.waiting.length > MAX_WAITING * this.#limit) socket.destroy()
    else socket.pause()
  }

  /** The request that came last on a connection, while any is under way. */
  newest(socket: Socket): Exchange | null {
    const line = this.#lines.get(socket)
    return line === undefined || line.running === 0 ? null : line.newest
  }

  /** Runs `work` when no earlier request of the connection is under way: replies keep the order of their requests. */
  whenIdle(socket: Socket, work: () => void): void {
    const line = this.#lines.get(socket)
    if (line === undefined || line.running === 0) work()
    else line.last = work
  }

  #lineOf(socket: Socket): Line {
    const known = this.#lines.get(socket)
    if (known !== undefined) return known
    const fresh = new Line(socket, this.#replies.of(socket), this.#brakes.get(socket) ?? null)
    this.#lines.set(socket, fresh)
    return fresh
  }
}

function begin(exchange: Exchange): void {
  exchange.started = true
  exchange.start()
}
