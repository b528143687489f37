/** Bounds the open connections, in all and of one address; who comes on top is told so and sent away. */
import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { refuse, statusOf } from '../../refusal/refusal.ts'
import type { Refusal } from '../../refusal/refusal.ts'
import type { Gateway } from '../../call/gateway.ts'
import { clientAddress } from '../address.ts'
import type { Addresses } from '../address.ts'
import { refuseRaw } from '../replies/raw-reply.ts'

/** Connections that are being told at a time; beyond that they are closed without a word. */
const TOLD_AT_ONCE = 256

/** What the bounds are taken from. */
export interface ConnectionsOptions {
  readonly gateway: Gateway
  readonly addresses: Addresses
  /** Whether clients speak TLS: those are closed before a handshake is paid for. */
  readonly tls: boolean
}

/** Stands in front of a server's own handling of connections. */
export function boundConnections(server: Server, options: ConnectionsOptions): void {
  const { gateway, addresses, tls } = options
  const open = new Set<Socket>()
  const byAddress = new Map<string, number>()
  let telling = 0
  const own = server.listeners('connection') as ((this: Server, socket: Socket) => void)[]
  server.removeAllListeners('connection')
  const handle = (socket: Socket): void => {
    for (const listener of own) listener.call(server, socket)
  }

  /** Why there is no room for one more of `address`; null when there is. */
  const fullness = (address: string | null): Refusal | null => {
    const { connections, connectionsPerAddress: each } = gateway.snapshot.gateway.limits
    if (open.size >= connections) return refuse('overloaded', 'The gateway has too many connections')
    if (address === null || (byAddress.get(address) ?? 0) < each) return null
    const sentence = 'Too many connections from this address'
    return refuse('too_many_connections', sentence, { limit: each })
  }

  const take = (socket: Socket, address: string | null): void => {
    open.add(socket)
    if (address !== null) byAddress.set(address, (byAddress.get(address) ?? 0) + 1)
    socket.once('close', () => {
      open.delete(socket)
      if (address === null) return
      const left = (byAddress.get(address) ?? 1) - 1
      if (left === 0) byAddress.delete(address)
      else byAddress.set(address, left)
    })
    handle(socket)
  }

  const sendAway = (socket: Socket, refusal: Refusal): void => {
    gateway.refusedEarly({ refusal, status: statusOf(refusal), requestId: '', asked: null })
    socket.on('error', () => undefined)
    if (tls || telling >= TOLD_AT_ONCE) {
      socket.destroy()
      return
    }
    telling += 1
    socket.once('close', () => (telling -= 1))
    refuseRaw(socket, refusal, statusOf(refusal), gateway.snapshot.gateway.cors.origins)
  }

  server.on('connection', socket => {
    // An offer of HTTP/2 that was turned down comes again, with its request put back.
    if (open.has(socket)) {
      handle(socket)
      return
    }
    const peer = socket.remoteAddress
    const address = peer === undefined || addresses.isProxy(peer) ? null : clientAddress(peer).limitAddress
    const refusal = fullness(address)
    if (refusal === null) take(socket, address)
    else sendAway(socket, refusal)
  })
}
