/** Ends a connection whose request body will not be read. */
import type { IncomingMessage } from 'node:http'
import { connectionOf } from '../connection.ts'
import { awaitsContinue } from './expect-continue.ts'

/** Bodies up to this many bytes are read to their end, so that the connection can be kept. */
const WORTH_READING = 64 * 1024
/** Bytes and milliseconds after which a body that nobody wants is cut. */
const LINGER_BYTES = 1024 * 1024
const LINGER_TIME = 2_000

/** Requests after which the connection ends whatever their bodies. */
const last = new WeakSet<IncomingMessage>()

/** Ends the connection with the answer to this request. */
export function endAfter(request: IncomingMessage): void {
  last.add(request)
}

/** Whether the rest of the body is short enough to be read for the sake of the connection. */
export function isShort(request: IncomingMessage): boolean {
  if (last.has(request) || awaitsContinue(request)) return false
  if (request.complete) return true
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers
  return encoding === undefined && Number(length ?? 0) <= WORTH_READING
}

/** Whether a request came behind one after which the connection ends: nobody answers it. */
export function isEnding({ socket }: IncomingMessage): boolean {
  return connectionOf(socket).isEnding
}

/** After an early reply with `Connection: close`: reads a little, so that the client sees the reply, then cuts. */
export function linger(request: IncomingMessage): void {
  const { socket } = request
  connectionOf(socket).isEnding = true
  const before = socket.bytesRead
  const timer = setTimeout(() => {
    socket.destroy()
  }, LINGER_TIME)
  socket.once('close', () => {
    clearTimeout(timer)
    // Node forgets a request with its reply: whoever waits for the rest of the body would wait for ever.
    request.destroy()
  })
  // Node would destroy the socket right behind the reply, and bytes not read by then would reset the reply away.
  socket.destroySoon = () => {
    socket.end()
  }
  request.on('data', () => {
    if (socket.bytesRead - before > LINGER_BYTES) socket.destroy()
  })
  request.resume()
  socket.resume()
}
