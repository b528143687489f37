/** A client's WebSocket as ws makes it, with the close code for what is too large in any way. */
import { WebSocket } from 'ws'

/** Parts in which one message may come: fragments (RFC 6455, section 5.4), and reads that brought a piece of it. */
export const PARTS = { maxFragments: 1024, maxBufferedChunks: 16 * 1024 } as const

/** ws reports a message in too many parts as 1008, and that by its code alone; to the client it is a message too large to handle. */
export class ClientConnection extends WebSocket {
  override close(code?: number, reason?: string | Buffer): void {
    super.close(code === 1008 && reason === undefined ? 1009 : code, reason)
  }
}
