/** A refusal as bytes, for connections on which Node has no response to write to. */
import type { Duplex } from 'node:stream'
import { encodeRefusal } from '../../jsonrpc/raw.ts'
import type { Refusal } from '../../refusal/refusal.ts'
import { corsHeaders, headersOf, nextRequestId } from './reply.ts'
import { headText } from './write-batching.ts'

/** Milliseconds that a client gets to take the reply and go. */
const PATIENCE = 2_000

/** Says why and ends the connection; what still arrives is thrown away, so that it does not reset the reply away. */
export function refuseRaw(
  socket: Duplex,
  refusal: Refusal,
  status: number,
  origins: readonly string[],
): void {
  const requestId = nextRequestId()
  const body = encodeRefusal(refusal, 'null', 'evm', requestId)
  const headers = headersOf({ requestId, cors: corsHeaders(origins, undefined), rate: null })
  headers.push('Connection', 'close', 'Content-Length', String(body.length))
  socket.end(Buffer.from(`${headText(status, headers)}\r\n${body}`, 'latin1'))
  socket.resume()
  const timer = setTimeout(() => {
    socket.destroy()
  }, PATIENCE)
  socket.once('end', () => {
    socket.destroy()
  })
  socket.once('close', () => {
    clearTimeout(timer)
  })
}
