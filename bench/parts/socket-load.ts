/** A load over open WebSockets, one call at a time on each. */
import type { WebSocket } from 'ws'
import { CALLS, CONNECTIONS } from './effort.ts'
import { openSocket } from './open-socket.ts'

/** Sends calls in turn, the next on a socket when the one before is answered; rejects on an error in a reply. */
export async function exchange(
  sockets: readonly WebSocket[],
  call: string | readonly string[],
): Promise<number> {
  const calls = typeof call === 'string' ? [call] : call
  let sent = 0
  const work = (socket: WebSocket): Promise<void> =>
    new Promise((resolve, reject) => {
      const next = (): void => {
        if (sent >= CALLS) {
          resolve()
          return
        }
        sent += 1
        socket.send(calls[sent % calls.length]!)
      }
      socket.removeAllListeners('message').on('message', (reply: Buffer) => {
        if (reply.includes('"result"')) next()
        else reject(new Error(reply.toString()))
      })
      socket.once('close', (code: number) => {
        reject(new Error(`a socket was closed with ${code}`))
      })
      next()
    })
  await Promise.all(sockets.map(work))
  for (const socket of sockets) socket.removeAllListeners('close')
  return sent
}

/** Opens as many WebSockets as a load has connections. */
export function openAll(url: string): Promise<WebSocket[]> {
  return Promise.all(Array.from({ length: CONNECTIONS }, () => openSocket(url)))
}
