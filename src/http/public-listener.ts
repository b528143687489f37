/** The public listener: one HTTP server with the bounds of design section 14. */
import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { Socket } from 'node:net'
import { ByteBudget } from '../limits/byte-budget.ts'
import { PUBLIC } from '../limits/fair-share.ts'
import { Slots } from '../limits/slots.ts'
import type { Holdings } from '../ports/holdings.ts'
import type { Gateway } from '../call/gateway.ts'
import { holderOf } from '../call/caller.ts'
import { isRefusal, refuse } from '../refusal/refusal.ts'
import type { GatewayConfig } from '../snapshot/types.ts'
import { Addresses } from './address.ts'
import { clientTraceOf } from './client-trace.ts'
import type { Certificate } from './certificate.ts'
import { answerClientErrors } from './connections/client-error.ts'
import type { Dashboard } from './dashboard/dashboard.ts'
import type { DashboardParts } from './dashboard/sign-in.ts'
import type { ClientSockets } from './websocket/client-sockets.ts'
import { Places } from './place.ts'
import { ClientStreams } from './proxied/client-streams.ts'
import { boundConnections } from './connections/connections.ts'
import { refuseDetached } from './websocket/detached.ts'
import { FairTurns } from './fair-turns.ts'
import { turnsSoFar } from './replies/write-batching.ts'
import type { HeadFault } from './request-head.ts'
import { awaitContinue, ClientRequest } from './body.ts'
import { guarded, handleRequest, readmit } from './rpc.ts'
import type { RpcOptions } from './rpc.ts'
import { refuseFault, visitOf } from './visit.ts'
import { boundIdleReplies, SILENCE } from './connections/idle-reply.ts'
import { sayKeepAlive } from './replies/reply.ts'
import { connectionOf, connectionsOf } from './connection.ts'
import type { ClientAddress, Exchange } from './connection.ts'
import { isTakenOff, takeUpgrades } from './websocket/upgrade.ts'
import { handleVerbatim } from './proxied/proxied.ts'

const MAX_HEADER_BYTES = 16 * 1024
/** How often header and request timeouts are looked at, in milliseconds. */
const CHECK_EVERY = 2_000

/** The server, and the WebSockets and streams that came through it. */
export interface PublicListener {
  readonly server: Server
  readonly sockets: ClientSockets
  readonly streams: ClientStreams
  /** What is held for clients. */
  readonly memory: ByteBudget
}

/** What a listener may have besides. */
export interface ListenerParts {
  /** Speaks TLS with it; null is plain HTTP. */
  readonly certificate?: Certificate | null
  /** What bounds the bytes held; default: a budget of the listener's own, by the configuration. */
  readonly memory?: ByteBudget
  /** Who holds how many sockets and event streams; default: counted in this process. */
  readonly holdings?: Holdings
  /** Hears once of a proxy whose X-Forwarded-For is ignored. */
  readonly onIgnoredProxy?: (peer: string) => void
  readonly openDashboard?: (address: DashboardParts['address']) => Dashboard
}

/** Makes the server, with TLS where there is a certificate; it is not bound yet. */
export function makePublicListener(
  gateway: Gateway,
  { limits, timeouts }: GatewayConfig,
  { certificate = null, openDashboard = () => () => null, ...parts }: ListenerParts = {},
): PublicListener {
  const server = makeServer(timeouts, certificate)
  // Above its bound Node drops header lines without a word; ours refuses (request-head.ts).
  server.maxHeadersCount = 0
  boundIdleReplies(server, { silence: SILENCE, keepAlive: timeouts.keepAlive })
  const memory = parts.memory ?? new ByteBudget(() => gateway.snapshot.gateway.limits.memory)
  const places = new Places(parts.holdings ?? new Slots())
  const turns = new FairTurns(turnsSoFar)
  const asked = connectionsOf(server)
  asked.limit = limits.socketCalls
  const addresses = new Addresses(gateway, parts.onIgnoredProxy)
  const address = (request: IncomingMessage): ClientAddress => addresses.of(request)
  const trace: RpcOptions['trace'] = request => clientTraceOf(request, gateway, addresses)
  const whose = (request: IncomingMessage): string => presumedHolder(request, address(request), gateway)
  const sockets = takeUpgrades(server, { gateway, address, memory, places, turns, whose })
  const streams = new ClientStreams(gateway, places)
  const options: RpcOptions = {
    gateway,
    address,
    trace,
    dashboard: openDashboard(address),
    memory,
    turns,
    verbatim: (visit, target) => handleVerbatim(visit, target, { gateway, address, trace, streams }),
  }
  const faults = new WeakMap<IncomingMessage, HeadFault>()
  server.on('connection', () => {
    turns.accepted()
  })
  server.on(certificate === null ? 'connection' : 'secureConnection', (socket: Socket) => {
    const connection = connectionOf(socket)
    connection.control(socket, memory)
    connection.budget = memory
  })

  const enter = (request: IncomingMessage, response: ServerResponse): void => {
    response.on('error', heard)
    sayKeepAlive(response, timeouts.keepAlive)
    // Where Node.js asked whether to upgrade and we declined, its parser may not go on behind the body.
    if (request.headers.upgrade !== undefined) response.shouldKeepAlive = false
    asked.enter(request, response, (exchange, connection) => {
      const begin = (): void => {
        if (request.socket.destroyed) return
        exchange.isBegun = true
        const fault = faults.get(request)
        if (fault !== undefined) refuseFault(visitOf(request, response, gateway), fault, gateway)
        else guarded(response, gateway, () => handleRequest(request, response, options))
        connection.resumeParser()
      }
      // What is answered at once can come by the thousand in one turn.
      if (!turns.admit(request.socket, () => whose(request), begin)) connection.pauseParser()
    })
  }
  server.on('request', enter)
  server.on('checkExpectation', enter)
  server.on('checkContinue', (request, response) => {
    awaitContinue(request, response)
    enter(request, response)
  })
  const refuseBody = ({ request, response, isBegun }: Exchange, fault: HeadFault): void => {
    if (!isBegun) faults.set(request, fault)
    else if (response.headersSent) request.socket.destroy()
    else refuseFault(visitOf(request, response, gateway), fault, gateway)
  }
  answerClientErrors(server, { gateway, refuseBody })
  server.on('connect', (request, socket) => {
    socket.on('error', () => undefined)
    if (!(socket instanceof Socket)) return
    connectionOf(socket).whenIdle(() => {
      refuseDetached(request, socket, refuse('method_not_allowed'), gateway)
    })
  })
  boundConnections(server, { gateway, addresses, tls: certificate !== null })
  return { server, sockets, streams, memory }
}

/** Whose turn of the event loop a request takes: its caller's, and where it would be refused its address's. A key that is denied takes nobody's. */
function presumedHolder(request: IncomingMessage, address: ClientAddress, gateway: Gateway): string {
  const caller = readmit(request, address, gateway)
  return isRefusal(caller) ? `${PUBLIC}${address.limitAddress}` : holderOf(caller)
}

/** A client that resets its connection is no error of ours. */
function heard(): void {
  // There is nobody left to tell.
}

function makeServer(timeouts: GatewayConfig['timeouts'], certificate: Certificate | null): Server {
  const options = {
    IncomingMessage: ClientRequest,
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: timeouts.headers,
    requestTimeout: timeouts.request,
    connectionsCheckingInterval: CHECK_EVERY,
    // Its absence is refused in our words.
    requireHostHeader: false,
    noDelay: true,
    // Newer lines of Node.js ask.
    shouldUpgradeCallback: isTakenOff,
  }
  if (certificate === null) return createServer(options)
  const server = createSecureServer({
    ...options,
    ...certificate.context,
    handshakeTimeout: timeouts.headers,
  })
  certificate.onChange(context => {
    server.setSecureContext(context)
  })
  return server
}
