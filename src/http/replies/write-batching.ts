/**
 * Replies that come in one turn of the event loop leave together at its end: writes that stand close to each other wake the other
 * side once, and cost about half.
 */
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Budget } from '../../limits/byte-budget.ts'
import type { Raw } from '../../jsonrpc/raw.ts'
import { countUnsent } from './unsent.ts'

/** A whole HTTP reply. */
export interface BatchedReply {
  readonly response: ServerResponse
  readonly status: number
  /** As name, value, name, value. */
  readonly headers: string[]
  readonly body: Raw
  /** Where it is counted while its client does not take it; null where no caller is known. */
  readonly budget: Budget | null
}

let turns = 0
let replies: BatchedReply[] = []
let corked: Socket[] = []

/** Sends a reply with the turn's end. Its head waits too: until it is written, it can still say that the connection ends. */
export function sendWithTurn(reply: BatchedReply): void {
  awaitEnd()
  replies.push(reply)
}

/** Holds what is written to a socket until the turn's end. */
export function corkForTurn(socket: Socket): void {
  if (socket.writableCorked > 0) return
  awaitEnd()
  socket.cork()
  corked.push(socket)
}

function awaitEnd(): void {
  if (replies.length === 0 && corked.length === 0) setImmediate(leave)
}

/** How many turns have ended in which anything was sent. */
export function turnsSoFar(): number {
  return turns
}

/** Sends what waits now; to be called before connections are cut. */
export function leave(): void {
  turns += 1
  const [whole, sockets] = [replies, corked]
  replies = []
  corked = []
  for (const { response, status, headers, body, budget } of whole) {
    // One that was answered twice has its first answer.
    if (response.destroyed || response.headersSent) continue
    try {
      response.writeHead(status, headers)
      response.end(body, 'latin1')
      countUnsent(response, body.length, budget)
    } catch (error) {
      // A head that cannot be written is a bug of ours: it costs this reply, and no other.
      response.destroy()
      process.emitWarning(error as Error)
    }
  }
  for (const socket of sockets) socket.uncork()
}
