/** Connections on which nothing was asked yet: `closeIdleConnections` leaves them open. */
import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'

const unusedOf = new WeakMap<Server, Set<Socket>>()

/** Begins to watch the connections of a server. */
export function watchUnused(server: Server): void {
  const unused = new Set<Socket>()
  unusedOf.set(server, unused)
  const use = ({ socket }: IncomingMessage): void => {
    unused.delete(socket)
  }
  server.on('connection', socket => {
    unused.add(socket)
    socket.once('close', () => unused.delete(socket))
  })
  server.prependListener('request', use)
  server.prependListener('upgrade', use)
}

/** Ends the connections on which nothing was asked. */
export function endUnused(server: Server): void {
  for (const socket of unusedOf.get(server) ?? []) socket.destroy()
}
