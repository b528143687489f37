/** What Node's parser refuses by itself is told in our words, and never inside the answer to another request. */
import type { Server } from 'node:http'
import { Socket } from 'node:net'
import { refuse } from '../../refusal/refusal.ts'
import type { Gateway } from '../../call/gateway.ts'
import type { HeadFault } from '../request-head.ts'
import { connectionOf } from '../connection.ts'
import type { Exchange } from '../connection.ts'
import { InTurns } from '../../net/in-turns.ts'
import { refuseRaw } from '../replies/raw-reply.ts'

/** What Node tells of a request that it will not read on. */
interface ParseError extends Error {
  readonly code?: string
  /** The parser's own words: of a fixed list, nothing of the client's. */
  readonly reason?: string
  readonly bytesParsed?: number
  readonly rawPacket?: Buffer
}

/** A request did not arrive in time. */
const LATE = 'ERR_HTTP_REQUEST_TIMEOUT'

/** What to do about a broken request: `refuseBody` answers one whose head has been entered already. */
export interface ClientErrorOptions {
  readonly gateway: Gateway
  readonly refuseBody: (exchange: Exchange, fault: HeadFault) => void
}

/** Answers requests that cannot be read, and ends their connections. */
export function answerClientErrors(server: Server, { gateway, refuseBody }: ClientErrorOptions): void {
  const turns = new InTurns()
  server.on('clientError', (error: ParseError, socket) => {
    if (socket instanceof Socket && connectionOf(socket).brake?.takes(error) === true) return
    // One that another process has served waits for its next request, and not for its first.
    if (
      error.code === LATE &&
      connectionOf(socket).isKept &&
      socket instanceof Socket &&
      socket.bytesRead === 0
    )
      return
    const fault = faultOf(error)
    if (fault === null || !socket.writable || !(socket instanceof Socket)) {
      socket.destroy()
      return
    }
    const connection = connectionOf(socket)
    if (connection.isRefused) return
    connection.isRefused = true
    turns.add(() => {
      answer(socket, fault)
    })
  })

  const answer = (socket: Socket, fault: HeadFault): void => {
    if (!socket.writable) return
    const connection = connectionOf(socket)
    const open = connection.newest
    if (open !== null && !open.request.complete) {
      refuseBody(open, fault)
      return
    }
    connection.whenIdle(() => {
      if (!socket.writable) return
      gateway.refusedEarly({ ...fault, requestId: '', asked: null })
      refuseRaw(socket, fault.refusal, fault.status, gateway.snapshot.gateway.cors.origins)
    })
  }
}

/** What the client is told; null when there is nobody to tell. */
function faultOf({ code = '', reason }: ParseError): HeadFault | null {
  if (code === LATE)
    return { refusal: refuse('invalid_request', 'The request did not arrive in time'), status: 408 }
  if (code === 'HPE_HEADER_OVERFLOW')
    return { refusal: refuse('invalid_request', 'The request head is too large'), status: 431 }
  if (!code.startsWith('HPE_')) return null
  const why = reason === undefined || reason === '' ? '' : `: ${reason}`
  return { refusal: refuse('invalid_request', `This is not valid HTTP/1.1${why}`), status: 400 }
}
