/** The replies under way of a server, and how they become the last ones: `server.close` says nothing to clients who keep their connections. */
import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Hears that a reply of its connection is over. */
export interface WhenOver {
  replyIsOver(): void
}

/** The replies of one connection that are not over. */
export class ReplyLine {
  open = 0
  /** The one whose request came last; null once it is over. */
  newest: ServerResponse | null = null
  readonly #replies: Replies

  constructor(replies: Replies) {
    this.#replies = replies
  }

  /**
   * Begins with a reply. This is the one listener that is told of its end: two make a list, which V8 came to keep in the old part of the
   * heap, with all that the reply holds (docs/decisions.md).
   */
  begin(response: ServerResponse, whenOver: WhenOver | null): void {
    const before = this.newest
    this.newest = response
    this.open += 1
    if (this.#replies.isEnding) {
      // The one before was to be the last, and was not begun: this request was sent behind it in good faith.
      if (before?.headersSent === false) before.shouldKeepAlive = true
      response.shouldKeepAlive = false
    }
    response.on('close', () => {
      this.open -= 1
      if (this.newest === response) this.newest = null
      whenOver?.replyIsOver()
    })
  }
}

/** Watches the replies of one server. */
export class Replies {
  /** By open connection on which something was asked. */
  readonly #lines = new Map<Socket, ReplyLine>()
  #ending = false

  /** Whether each connection ends with its newest reply. */
  get isEnding(): boolean {
    return this.#ending
  }

  /** The line of a connection. */
  of(socket: Socket): ReplyLine {
    const known = this.#lines.get(socket)
    if (known !== undefined) return known
    const line = new ReplyLine(this)
    this.#lines.set(socket, line)
    socket.once('close', () => this.#lines.delete(socket))
    return line
  }

  /** The open connections on which something was asked, and whether a reply is under way on each. */
  *all(): Iterable<readonly [socket: Socket, isBusy: boolean]> {
    for (const [socket, { open }] of this.#lines) yield [socket, open > 0]
  }

  /** A connection leaves HTTP. */
  forget(socket: Socket): void {
    this.#lines.delete(socket)
  }

  /** Those that have a reply under way. */
  *busy(): Iterable<Socket> {
    for (const [socket, { open }] of this.#lines) if (open > 0) yield socket
  }

  /**
   * From now on the newest reply of each connection says `Connection: close`, and the connection ends behind it. One that has said already
   * that it is kept says so with the reply after.
   */
  end(): void {
    this.#ending = true
    for (const { newest } of this.#lines.values())
      if (newest?.headersSent === false) newest.shouldKeepAlive = false
  }
}

const byServer = new WeakMap<Server, Replies>()

/** The replies of a server. */
export function repliesOf(server: Server): Replies {
  let replies = byServer.get(server)
  if (replies === undefined) byServer.set(server, (replies = new Replies()))
  return replies
}
