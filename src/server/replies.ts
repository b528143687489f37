/** The replies under way of a server, and how they become the last ones: `server.close` says nothing to clients who keep their connections. */
import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Hears that a reply of its connection is over. */
export interface WhenOver {
  replyIsOver(): void
}

/** The replies of one connection that are not over. */
interface Line {
  open: number
  /** The one whose request came last; null once it is over. */
  newest: ServerResponse | null
}

/** Watches the replies of one server. */
export class Replies {
  /** By open connection. */
  readonly #lines = new Map<Socket, Line>()
  #ending = false

  /**
   * Begins with a reply. This is the one listener that is told of its end: two make a list, which V8 came to keep in the old part of the
   * heap, with all that the reply holds (docs/decisions.md).
   */
  begin(socket: Socket, response: ServerResponse, whenOver: WhenOver | null = null): void {
    const line = this.#lineOf(socket)
    const before = line.newest
    line.newest = response
    line.open += 1
    if (this.#ending) {
      // The one before was to be the last, and was not begun: this request was sent behind it in good faith.
      if (before?.headersSent === false) before.shouldKeepAlive = true
      response.shouldKeepAlive = false
    }
    response.on('close', () => {
      line.open -= 1
      if (line.newest === response) line.newest = null
      // It may have begun before the end was known, and said that its connection is kept.
      if (line.open === 0 && this.#ending) socket.end()
      whenOver?.replyIsOver()
    })
  }

  /** From now on the newest reply of each connection says `Connection: close`, and the connection ends behind it. */
  end(): void {
    this.#ending = true
    for (const { newest } of this.#lines.values())
      if (newest?.headersSent === false) newest.shouldKeepAlive = false
  }

  #lineOf(socket: Socket): Line {
    const known = this.#lines.get(socket)
    if (known !== undefined) return known
    const line: Line = { open: 0, newest: null }
    this.#lines.set(socket, line)
    socket.once('close', () => this.#lines.delete(socket))
    return line
  }
}

const byServer = new WeakMap<Server, Replies>()

/** The replies of a server. */
export function repliesOf(server: Server): Replies {
  let replies = byServer.get(server)
  if (replies === undefined) byServer.set(server, (replies = new Replies()))
  return replies
}
