/** The upgrade to WebSocket: authentication before 101, and a plain HTTP refusal otherwise. */
import type { IncomingMessage, Server } from 'node:http'
import { Socket } from 'node:net'
import { WebSocketServer } from 'ws'
import type { ByteBudget } from '../../limits/byte-budget.ts'
import type { Places } from '../place.ts'
import type { MaybePromise } from '../../ports/maybe-promise.ts'
import type { Gateway } from '../../call/gateway.ts'
import { isRefusal, refuse, SHUTTING_DOWN } from '../../refusal/refusal.ts'
import type { Refusal } from '../../refusal/refusal.ts'
import type { Caller } from '../../call/caller.ts'
import { holderOf } from '../../call/caller.ts'
import { Outbox } from '../../subscriptions/client/outbox.ts'
import { connectionOf, connectionsOf } from '../connection.ts'
import type { ClientAddress } from '../connection.ts'
import { ClientConnection, PARTS } from './client-connection.ts'
import { ClientSocket } from './client-socket.ts'
import type { ClientSocketOptions } from './client-socket.ts'
import { ClientSockets } from './client-sockets.ts'
import { refuseDetached } from './detached.ts'
import { declineUpgrade } from './decline-upgrade.ts'
import type { FairTurns } from '../fair-turns.ts'
import { headFault } from '../request-head.ts'
import type { HeadFault } from '../request-head.ts'
import { isEnding } from '../body.ts'
import { socketTraceOf } from '../client-trace.ts'
import type { Place } from '../place.ts'
import { freshnessOf, readTarget } from '../visit.ts'

/** What the upgrade needs to know. */
export interface UpgradeOptions {
  readonly gateway: Gateway
  readonly address: (request: IncomingMessage) => ClientAddress
  readonly memory: ByteBudget
  readonly places: Places
  readonly turns: FairTurns
  /** Whose turn of the event loop a request takes. */
  readonly whose: (request: IncomingMessage) => string
}

/** Takes WebSocket upgrades of a server; returns the sockets that are open. */
export function takeUpgrades(
  server: Server,
  { gateway, address, memory, places, turns, whose }: UpgradeOptions,
): ClientSockets {
  const acceptor = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    ...PARTS,
    WebSocket: ClientConnection,
    clientTracking: false,
  })
  const sockets = new ClientSockets(gateway, places)
  const outbox = new Outbox()
  const asked = connectionsOf(server)
  server.on('upgrade', (request, socket, head) => {
    // A reset from here on would end the process if nobody listened.
    socket.on('error', () => undefined)
    if (!(socket instanceof Socket) || isEnding(request)) {
      socket.destroy()
      return
    }
    connectionOf(socket).whenIdle(() => {
      const begin = (): void => {
        if (socket.destroyed) return
        if (asksForWebSocket(request)) upgrade(request, socket, head)
        else declineUpgrade(server, request, socket, head)
      }
      // Handshakes can come by the thousand in one turn.
      turns.admit(socket, () => whose(request), begin)
    })
  })

  const upgrade = (request: IncomingMessage, socket: Socket, head: Buffer): void => {
    const fault = headFault(request) ?? bodyFault(request)
    if (fault !== null) {
      refuseDetached(request, socket, fault.refusal, gateway, fault.status)
      return
    }
    const admitted = admit(request, gateway, address, sockets)
    const refused = (refusal: Refusal): void => {
      refuseDetached(request, socket, refusal, gateway)
    }
    if (admitted instanceof Promise) {
      void admitted.then(refused)
      return
    }
    if (isRefusal(admitted)) {
      refused(admitted)
      return
    }
    const open = (place: Place | Refusal): void => {
      if (isRefusal(place)) refused(place)
      else accept(request, socket, head, admitted, place)
    }
    const taking = sockets.take(admitted.caller)
    if (taking instanceof Promise) void taking.then(open)
    else open(taking)
  }

  const accept = (
    request: IncomingMessage,
    socket: Socket,
    head: Buffer,
    { visitor, caller }: Admitted,
    place: Place,
  ): void => {
    if (!visitor.network.wss || socket.destroyed) {
      place.free()
      if (!socket.destroyed) refuseDetached(request, socket, noSockets(), gateway, NO_SOCKET_HERE)
      return
    }
    const state = { isOpen: false }
    // Most bytes of one message: by the configuration of now.
    acceptor.options.maxPayload = gateway.snapshot.gateway.limits.body
    acceptor.handleUpgrade(request, socket, head, webSocket => {
      state.isOpen = true
      asked.forget(socket)
      const client = new ClientSocket(webSocket, socket, {
        gateway,
        outbox,
        visitor,
        caller,
        memory: memory.of(holderOf(caller)),
        turns,
        onClose: () => {
          place.free()
          sockets.remove(client)
        },
      })
      sockets.add(client, place)
    })
    if (!state.isOpen) place.free()
  }
  return sockets
}

/** Whether a request with an `Upgrade` asks for the one protocol that is spoken here besides HTTP. */
function asksForWebSocket({ method, headers }: IncomingMessage): boolean {
  return method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket'
}

/** Since this line, Node.js reads the body of a request that it takes off the HTTP server. */
const READS_BODIES = 25

/**
 * Whether a request with an `Upgrade` leaves the HTTP server: a handshake, and what can be handed back with all of its bytes. The rest is answered
 * where it is, and its connection ends behind the answer.
 */
export function isTakenOff(request: IncomingMessage, node = process.versions.node): boolean {
  return asksForWebSocket(request) || parseInt(node) < READS_BODIES || !hasBody(request)
}

function hasBody({ headers }: IncomingMessage): boolean {
  return Number(headers['content-length'] ?? 0) !== 0 || headers['transfer-encoding'] !== undefined
}

/** What follows the head of a handshake is frames: a reader who sees a body there sees other bytes. */
function bodyFault(request: IncomingMessage): HeadFault | null {
  if (!hasBody(request)) return null
  return { refusal: refuse('invalid_request', 'A WebSocket handshake has no body'), status: 400 }
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
): Admitted | MaybePromise<Refusal> {
  const target = readTarget(request, gateway)
  if (isRefusal(target)) return target
  const { network, key } = target
  if (target.path !== '') return refuse('not_found')
  const { origin } = request.headers
  const freshness = freshnessOf(request.headers)
  const trace = socketTraceOf(request, gateway)
  const visitor = { network, key, origin, transport: 'ws' as const, freshness, trace, ...address(request) }
  const caller = gateway.admit({ ...visitor, session: null })
  if (caller instanceof Promise || isRefusal(caller)) return caller
  if (sockets.isShut) return refuse('no_route', SHUTTING_DOWN)
  return { visitor, caller }
}

function noSockets(): Refusal {
  return refuse('capability_missing', 'This network has no WebSocket route', { capability: 'ws' })
}

/** A network without WebSocket is not there for a socket: 404 tells clients not to try again. */
const NO_SOCKET_HERE = 404
