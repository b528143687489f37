/** Sends long replies: a piece of each in a turn of the event loop, so that they share it with everybody else's calls. */
import type { ServerResponse } from 'node:http'
import { LONG } from '../../jsonrpc/long-text.ts'
import type { LongText } from '../../jsonrpc/long-text.ts'
import { InTurns } from '../../net/in-turns.ts'
import { writePiece } from './write-batching.ts'

/** The event loop's turns are one for all replies. */
const turns = new InTurns()

/** Sends a reply with a head that has its length; resolves when all has been taken from it, or the client is gone. */
export async function sendLong(
  response: ServerResponse,
  status: number,
  headers: string[],
  reply: LongText,
): Promise<void> {
  headers.push('Content-Length', String(reply.length))
  const pieces = reply.pieces(LONG)
  const begin = async (): Promise<boolean> => {
    // One that was answered twice has its first answer.
    if (response.destroyed || response.headersSent) return false
    response.writeHead(status, headers)
    return next()
  }
  const next = async (): Promise<boolean> => {
    const { value: piece } = pieces.next()
    if (piece !== undefined) return writePiece(response, piece)
    response.end()
    return false
  }
  try {
    let goesOn = await inTurn(begin)
    while (goesOn) goesOn = await inTurn(next)
  } catch (error) {
    // A head that cannot be written is a bug of ours: it costs this reply, and no other.
    response.destroy()
    process.emitWarning(error as Error)
  }
}

/** Does work when the turn has room for it. */
function inTurn<T>(work: () => Promise<T>): Promise<T> {
  return new Promise(resolve => {
    turns.add(() => {
      resolve(work())
    })
  })
}
