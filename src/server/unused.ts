/** Connections on which nothing was asked yet: `closeIdleConnections` leaves them open. */
import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'
import { repliesOf } from './replies.ts'

/** By the other end: under TLS the socket of the requests is another one than that of the connection. */
const openOf = new WeakMap<Server, Map<string, Socket>>()

/** Begins to watch the connections of a server. */
export function watchUnused(server: Server): void {
  const open = new Map<string, Socket>()
  openOf.set(server, open)
  server.on('connection', socket => {
    const peer = peerOf(socket)
    open.set(peer, socket)
    socket.once('close', () => {
      if (open.get(peer) === socket) open.delete(peer)
    })
  })
  server.prependListener('upgrade', ({ socket }: IncomingMessage) => {
    open.delete(peerOf(socket))
  })
}

/** Ends the connections on which nothing was asked. */
export function endUnused(server: Server): void {
  const used = new Set([...repliesOf(server).sockets()].map(peerOf))
  for (const [peer, socket] of openOf.get(server) ?? []) if (!used.has(peer)) socket.destroy()
}

function peerOf({ remoteAddress = '', remotePort = 0 }: Socket): string {
  return `${remoteAddress} ${remotePort}`
}
