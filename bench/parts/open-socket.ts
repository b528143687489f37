import { WebSocket } from 'ws'

/** A WebSocket that is open. */
export function openSocket(url: string): Promise<WebSocket> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url, { perMessageDeflate: false })
    socket.once('open', () => resolve(socket)).once('error', reject)
  })
}
