/** Ends a connection whose request body will not be read. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Bodies up to this many bytes are read to their end, so that the connection can be kept. */
const WORTH_READING = 64 * 1024
/** Bytes and milliseconds after which a body that nobody wants is cut. */
const LINGER_BYTES = 1024 * 1024
const LINGER_TIME = 2_000

/** Whether the rest of the body is short enough to be read for the sake of the connection. */
export function isShort(request: IncomingMessage): boolean {
  if (request.complete) return true
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers
  return encoding === undefined && Number(length ?? 0) <= WORTH_READING
}

/** Connections that were told `Connection: close`. */
const ending = new WeakSet<Socket>()

/** Whether a request came behind one after which the connection ends: nobody answers it. */
export function isEnding({ socket }: IncomingMessage): boolean {
  return ending.has(socket)
}

/** After an early reply with `Connection: close`: reads a little, so that the client sees the reply, then cuts. */
export function linger(request: IncomingMessage, response: ServerResponse): void {
  ending.add(request.socket)
  let seen = 0
  const cut = (): void => {
    request.socket.destroy()
  }
  const timer = setTimeout(cut, LINGER_TIME)
  request.on('data', (chunk: Buffer) => {
    seen += chunk.length
    if (seen > LINGER_BYTES) cut()
  })
  request.on('close', () => {
    clearTimeout(timer)
  })
  response.on('close', () => {
    clearTimeout(timer)
  })
  request.resume()
}
