/** Lets the replies under way be the last of their connections: `server.close` says nothing to those who keep theirs alive. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

interface Watched {
  /** Replies that are not over, by open connection, in the order of their requests. */
  readonly open: Map<Socket, ServerResponse[]>
  ending: boolean
}

const watchedOf = new WeakMap<Server, Watched>()

/** Begins to watch the replies of a server. */
export function watchReplies(server: Server): void {
  const watched: Watched = { open: new Map(), ending: false }
  watchedOf.set(server, watched)
  server.prependListener('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    const replies = repliesOf(socket, watched)
    const before = replies.at(-1)
    replies.push(response)
    if (watched.ending) {
      // The one before was to be the last, and was not begun: this request was sent behind it in good faith.
      if (before?.headersSent === false) before.shouldKeepAlive = true
      response.shouldKeepAlive = false
    }
    response.on('close', () => {
      replies.splice(replies.indexOf(response), 1)
      // It may have begun before the end was known, and said that its connection is kept.
      if (replies.length === 0 && watched.ending) socket.end()
    })
  })
}

function repliesOf(socket: Socket, { open }: Watched): ServerResponse[] {
  const known = open.get(socket)
  if (known !== undefined) return known
  const replies: ServerResponse[] = []
  open.set(socket, replies)
  socket.once('close', () => open.delete(socket))
  return replies
}

/** From now on the newest reply of each connection says `Connection: close`, and the connection ends behind it. */
export function endWithReplies(server: Server): void {
  const watched = watchedOf.get(server)
  if (watched === undefined) return
  watched.ending = true
  for (const replies of watched.open.values()) {
    const last = replies.at(-1)
    if (last?.headersSent === false) last.shouldKeepAlive = false
  }
}
