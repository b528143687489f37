/** The upgrade to WebSocket: authentication before 101, and a plain HTTP refusal otherwise. */
import { ServerResponse } from 'node:http'
import type { IncomingMessage, Server } from 'node:http'
import { Socket } from 'node:net'
import { WebSocketServer } from 'ws'
import type { Gateway } from '../gateway.ts'
import { isRefusal } from '../jsonrpc/is-refusal.ts'
import { refuse } from '../jsonrpc/refusal.ts'
import type { Refusal } from '../jsonrpc/refusal.ts'
import type { Caller } from '../pipeline/caller.ts'
import { columnOf } from '../pipeline/caller.ts'
import { holderOf } from '../pipeline/holder.ts'
import { Outbox } from '../pipeline/outbox.ts'
import type { ClientAddress } from './address.ts'
import { ClientSocket } from './client-socket.ts'
import type { ClientSocketOptions } from './client-socket.ts'
import { ClientSockets } from './client-sockets.ts'
import { corsHeaders } from './cors.ts'
import { handBack } from './hand-back.ts'
import { isEnding } from './linger.ts'
import { nextRequestId } from './request-id.ts'
import { readTarget, refuseEarly, rpcOnly } from './rpc.ts'
import type { SocketGate } from './socket-gate.ts'

/** What the upgrade needs to know. */
export interface UpgradeOptions {
  readonly gateway: Gateway
  readonly address: (request: IncomingMessage) => ClientAddress
  /** Most bytes of one message. */
  readonly maxPayload: number
  readonly gate: SocketGate
}

/** Takes WebSocket upgrades of a server; returns the sockets that are open. */
export function takeUpgrades(
  server: Server,
  { gateway, address, maxPayload, gate }: UpgradeOptions,
): ClientSockets {
  const acceptor = new WebSocketServer({
    noServer: true,
    maxPayload,
    perMessageDeflate: false,
    clientTracking: false,
  })
  const sockets = new ClientSockets(gateway)
  const outbox = new Outbox()
  server.on('upgrade', (request, socket, head) => {
    // A reset from here on would end the process if nobody listened.
    socket.on('error', () => undefined)
    if (!(socket instanceof Socket) || isEnding(request)) {
      socket.destroy()
      return
    }
    gate.whenIdle(socket, () => {
      if (request.method === 'GET' && request.headers.upgrade?.toLowerCase() === 'websocket')
        upgrade(request, socket, head)
      else handBack(server, request, socket, head)
    })
  })

  const upgrade = (request: IncomingMessage, socket: Socket, head: Buffer): void => {
    const admitted = admit(request, gateway, address, sockets)
    if (isRefusal(admitted)) {
      refuseUpgrade(request, socket, admitted, gateway)
      return
    }
    const { visitor, caller } = admitted
    acceptor.handleUpgrade(request, socket, head, webSocket => {
      const holder = holderOf(caller)
      sockets.slots.take(holder, Infinity)
      const client = new ClientSocket(webSocket, socket, {
        ...{ gateway, outbox, visitor, caller },
        onClose: () => {
          sockets.slots.free(holder)
          sockets.remove(client)
        },
      })
      sockets.add(client)
    })
  }
  return sockets
}

interface Admitted {
  readonly visitor: ClientSocketOptions['visitor']
  readonly caller: Caller
}

function admit(
  request: IncomingMessage,
  gateway: Gateway,
  address: UpgradeOptions['address'],
  sockets: ClientSockets,
): Admitted | Refusal {
  const target = rpcOnly(readTarget(request, gateway))
  if (isRefusal(target)) return target
  const { network, key } = target
  if (target.path !== '') return refuse('not_found')
  const { origin } = request.headers
  const visitor = { network, key, origin, transport: 'ws' as const, ...address(request) }
  const caller = gateway.admit({ ...visitor, session: null })
  if (isRefusal(caller)) return caller
  if (!sockets.slots.fits(holderOf(caller), caller.plan.ws.connections))
    return refuse('too_many_connections', undefined, { limit: caller.plan.ws.connections })
  if (!network.wss)
    return refuse('capability_missing', 'This network has no WebSocket route', { capability: 'ws' })
  return { visitor, caller }
}

/** A network without WebSocket is not there for a socket: 404 tells clients not to try again. */
const NO_SOCKET_HERE = 404

function refuseUpgrade(request: IncomingMessage, socket: Socket, refusal: Refusal, gateway: Gateway): void {
  const response = new ServerResponse(request)
  response.shouldKeepAlive = false
  response.assignSocket(socket)
  response.on('finish', () => {
    socket.end()
  })
  const { origin } = request.headers
  const cors = corsHeaders(gateway.snapshot.gateway.cors.origins, origin)
  const target = rpcOnly(readTarget(request, gateway))
  const column = columnOf(isRefusal(target) ? null : target.network)
  const visit = { request, response, requestId: nextRequestId(), cors }
  refuseEarly(
    visit,
    refusal,
    column,
    gateway,
    refusal.reason === 'capability_missing' ? NO_SOCKET_HERE : undefined,
  )
}
