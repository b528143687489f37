import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { WebSocket } from 'ws'

/** The text of an HTTP request as a client writes it. */
export function post(path: string, body: string, headers = ''): string {
  const head = `POST ${path} HTTP/1.1\r\nHost: gateway\r\nContent-Type: application/json\r\n${headers}`
  return `${head}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
}

/** One call as text. */
export function call(method: string, params: unknown, id: unknown = 1): string {
  return JSON.stringify({ jsonrpc: '2.0', id, method, params })
}

/** Opens a connection from an address of the loopback; its end shows in `close`. */
export async function open(port: number, localAddress = '127.0.0.2'): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', localAddress })
  socket.on('error', () => undefined)
  await Promise.race([once(socket, 'connect'), once(socket, 'close')])
  return socket
}

/** Opens a WebSocket from an address of the loopback. */
export async function openWebSocket(
  port: number,
  path: string,
  localAddress = '127.0.0.2',
): Promise<WebSocket> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, { perMessageDeflate: false, localAddress })
  socket.on('error', () => undefined)
  await Promise.race([once(socket, 'open'), once(socket, 'close')])
  return socket
}

/** Writes as fast as the other side reads, for so long at most; gives how many bytes went. */
export async function pour(
  socket: Socket,
  chunk: string | Buffer,
  times: number,
  ms: number,
): Promise<number> {
  const end = performance.now() + ms
  let written = 0
  for (let i = 0; i < times && !socket.destroyed; i++) {
    written += chunk.length
    if (socket.write(chunk)) {
      if (i % 16 === 0) await pause(0)
      continue
    }
    const over = new AbortController()
    const waits = [
      once(socket, 'drain', over),
      once(socket, 'close', over),
      pause(end - performance.now(), 0, over),
    ]
    await Promise.race(waits).catch(() => undefined)
    over.abort()
    await Promise.allSettled(waits)
    if (performance.now() > end) break
  }
  return written
}

/** Ends a connection without a word. */
export async function drop(sockets: readonly Socket[]): Promise<void> {
  await Promise.all(
    sockets.map(async socket => {
      if (socket.closed) return
      socket.resetAndDestroy()
      await once(socket, 'close')
    }),
  )
}

/** The head of a masked text frame of so many bytes; the mask changes nothing. */
export function rawFrame(bytes: number): Buffer {
  const head = Buffer.alloc(14)
  head[0] = 0x81
  head[1] = 0xff
  head.writeBigUInt64BE(BigInt(bytes), 2)
  return head
}

/** Sends bytes and gives what comes back within a time, or until the other side closes. */
export async function exchange(port: number, bytes: string, ms = 500): Promise<string> {
  const socket = await open(port)
  let text = ''
  socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')))
  socket.write(bytes)
  const over = new AbortController()
  await Promise.race([once(socket, 'close', over), pause(ms, undefined, over)]).catch(() => undefined)
  over.abort()
  await drop([socket])
  return text
}
