/** Connections on which nothing was asked yet: `closeIdleConnections` leaves them open. */
import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'

/** By the other end: under TLS the socket of the requests is another one than that of the connection. */
const unusedOf = new WeakMap<Server, Map<string, Socket>>()

/** Begins to watch the connections of a server. */
export function watchUnused(server: Server): void {
  const unused = new Map<string, Socket>()
  unusedOf.set(server, unused)
  const used = new WeakSet<Socket>()
  const use = ({ socket }: IncomingMessage): void => {
    if (used.has(socket)) return
    used.add(socket)
    unused.delete(peerOf(socket))
  }
  server.on('connection', socket => {
    const peer = peerOf(socket)
    unused.set(peer, socket)
    socket.once('close', () => {
      if (unused.get(peer) === socket) unused.delete(peer)
    })
  })
  server.prependListener('request', use)
  server.prependListener('upgrade', use)
}

/** Ends the connections on which nothing was asked. */
export function endUnused(server: Server): void {
  for (const socket of unusedOf.get(server)?.values() ?? []) socket.destroy()
}

function peerOf({ remoteAddress = '', remotePort = 0 }: Socket): string {
  return `${remoteAddress} ${remotePort}`
}
