/**
 * Bounds the calls in flight of one connection. A client can pipeline thousands, and Node enters the handler of each one
 * that stands in the bytes it has read, so what is over the bound waits here and the connection is not read meanwhile.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Replies, ReplyLine, WhenOver } from './replies.ts'

/** A request and its reply on their connection. */
export interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  started: boolean
  readonly start: () => void
}

/** One connection. */
class Line implements WhenOver {
  running = 0
  readonly waiting: Exchange[] = []
  /** The one that came last; null when none is under way. */
  newest: Exchange | null = null
  /** What has to wait until every earlier request is over. */
  last: (() => void) | null = null
  readonly replies: ReplyLine
  readonly #socket: Socket

  constructor(socket: Socket, replies: ReplyLine) {
    this.#socket = socket
    this.replies = replies
  }

  replyIsOver(): void {
    const socket = this.#socket
    const next = socket.destroyed ? undefined : this.waiting.shift()
    if (next === undefined) this.running -= 1
    else begin(next)
    if (this.running === 0) {
      const { last } = this
      this.newest = null
      this.last = null
      last?.()
    }
    if (this.waiting.length === 0 && socket.isPaused()) socket.resume()
  }
}

/** Starts requests, at most `limit` at a time for each connection, in the order they came. */
export class SocketGate {
  readonly #limit: number
  readonly #lines = new WeakMap<Socket, Line>()
  readonly #replies: Replies

  constructor(limit: number, replies: Replies) {
    this.#limit = limit
    this.#replies = replies
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
      begin(exchange)
      return
    }
    line.waiting.push(exchange)
    socket.pause()
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
    const fresh = new Line(socket, this.#replies.of(socket))
    this.#lines.set(socket, fresh)
    return fresh
  }
}

function begin(exchange: Exchange): void {
  exchange.started = true
  exchange.start()
}
