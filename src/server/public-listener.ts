/** The public listener: one HTTP server with the bounds of design section 14. */
import { createServer } from 'node:http'
import type { IncomingMessage, Server } from 'node:http'
import type { Gateway } from '../gateway.ts'
import type { GatewayConfig } from '../snapshot/types.ts'
import { addressReader } from './address.ts'
import type { ClientAddress } from './address.ts'
import type { Dashboard } from './dashboard/dashboard.ts'
import type { DashboardParts } from './dashboard/door.ts'
import { handleRequest } from './rpc.ts'
import type { RpcOptions } from './rpc.ts'
import type { ClientSockets } from './client-sockets.ts'
import { ClientStreams } from './client-streams.ts'
import { takeUpgrades } from './upgrade.ts'
import { SocketGate } from './socket-gate.ts'
import { handleVerbatim } from './verbatim.ts'

const MAX_HEADER_BYTES = 16 * 1024
const MAX_HEADERS = 100
/** How often header and request timeouts are looked at, in milliseconds. */
const CHECK_EVERY = 2_000
/** Milliseconds after which a connection on which nothing moves is cut: above the longest call. */
const SILENCE = 120_000

/** The server, and the WebSockets and streams that came through it. */
export interface PublicListener {
  readonly server: Server
  readonly sockets: ClientSockets
  readonly streams: ClientStreams
}

/** Makes the server; it is not bound yet. */
export function makePublicListener(
  gateway: Gateway,
  { limits, timeouts, trustedProxies }: GatewayConfig,
  openDashboard: (address: DashboardParts['address']) => Dashboard = () => () => null,
): PublicListener {
  const server = createServer({
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: timeouts.headers,
    requestTimeout: timeouts.request,
    keepAliveTimeout: timeouts.keepAlive,
    connectionsCheckingInterval: CHECK_EVERY,
    noDelay: true,
  })
  server.maxHeadersCount = MAX_HEADERS
  server.maxConnections = limits.connections
  server.timeout = SILENCE
  const gate = new SocketGate(limits.socketCalls)
  let proxies = trustedProxies
  let read = addressReader(proxies)
  const address = (request: IncomingMessage): ClientAddress => {
    const { trustedProxies: current } = gateway.snapshot.gateway
    if (current !== proxies) {
      proxies = current
      read = addressReader(current)
    }
    return read(request)
  }
  const sockets = takeUpgrades(server, { gateway, address, gate, maxPayload: limits.body })
  const streams = new ClientStreams(gateway, sockets.slots)
  const options: RpcOptions = {
    ...{ gateway, address, dashboard: openDashboard(address) },
    verbatim: (visit, target) => handleVerbatim(visit, target, { gateway, address, streams }),
  }
  server.on('request', (request, response) => {
    // A client that resets its connection is no error of ours.
    response.on('error', () => undefined)
    gate.enter(request, response, () => {
      void handleRequest(request, response, options).catch((error: unknown) => {
        gateway.live.observer.bug(error, 'listener')
        response.destroy()
      })
    })
  })
  return { server, sockets, streams }
}
