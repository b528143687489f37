/** Writes a reply piece by piece, as fast as its client reads. */
import type { ServerResponse } from 'node:http'
import { connectionOf } from '../connection.ts'

/** Milliseconds that a client may leave a piece unread. */
const STALL = 30_000

/** Writes a piece; resolves when the next may be written, to false when the client is gone. One that does not read is cut. */
export async function writePiece(response: ServerResponse, piece: Buffer, stall = STALL): Promise<boolean> {
  const { socket } = response.req
  const isOpen = (): boolean => !response.destroyed && !socket.destroyed
  if (!isOpen()) return false
  if (response.write(piece)) return true
  return new Promise(resolve => {
    const over = (): void => {
      clearTimeout(timer)
      stay()
      response.off('drain', over).off('close', over)
      resolve(isOpen())
    }
    // Behind an earlier reply of its connection it waits for that one, which has a time of its own.
    let isBehind = response.socket === null
    const timer = setTimeout(() => {
      if (isBehind && isOpen()) {
        isBehind = response.socket === null
        timer.refresh()
      } else {
        response.destroy()
        over()
      }
    }, stall)
    // When a connection closes, Node notifies only the first of its pending replies.
    const stay = connectionOf(socket).whenGone(over)
    response.on('drain', over).on('close', over)
  })
}
