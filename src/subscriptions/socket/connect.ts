/** Opens the WebSocket of a route. */
import { WebSocket } from 'ws'
import { socketFault } from '../../routes/transport/cause.ts'
import type { Route } from '../../snapshot/types.ts'

/** Bytes of one message of an upstream: what is scanned in one piece holds up everybody. */
const MAX_MESSAGE = 16 * 1024 * 1024

/** A WebSocket was not opened. The error of ws is not in it: it may quote the URL, which holds the operator's key. */
export class NoConnection extends Error {
  /** Why, in a few words without addresses; null if that is not known. */
  readonly fault: string | null

  constructor(routeId: string, fault: string | null) {
    super(`route ${routeId} takes no WebSocket connection`)
    this.fault = fault
  }
}

/** An open WebSocket; rejects with NoConnection when the upstream does not take it within `timeout` milliseconds. */
export function connect(route: Route, timeout: number): Promise<WebSocket> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(route.ws ?? '', {
      headers: route.headers,
      handshakeTimeout: timeout,
      maxPayload: MAX_MESSAGE,
      perMessageDeflate: false,
      followRedirects: false,
    })
    socket.once('open', () => {
      resolve(socket)
    })
    socket.on('error', error => {
      reject(new NoConnection(route.id, socketFault(error)))
    })
  })
}
