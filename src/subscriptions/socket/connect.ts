/** Opens the WebSocket of a route. */
import { WebSocket } from 'ws'
import type { Route } from '../../snapshot/types.ts'

/** Bytes of one message of an upstream: what is scanned in one piece holds up everybody. */
const MAX_MESSAGE = 16 * 1024 * 1024

/** An open WebSocket; rejects when the upstream does not take it within `timeout` milliseconds. */
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
    // The error itself may quote the URL, which holds the operator's key.
    socket.on('error', () => {
      reject(new Error(`route ${route.id} takes no WebSocket connection`))
    })
  })
}
