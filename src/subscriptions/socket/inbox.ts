/** The frames of one upstream socket, read as fast as the turns of the event loop have time for them. */
import type { RawData, WebSocket } from 'ws'
import type { Reader, ReadingTurns } from './reading-turns.ts'

/** What stands for a binary frame, which no node sends: it is no message. */
const NOTHING = Buffer.alloc(0)

/** Pauses the socket while frames wait, so that no more wait than have been received in one piece. */
export class Inbox implements Reader {
  readonly #socket: WebSocket
  readonly #turns: ReadingTurns
  readonly #read: (frame: Buffer) => void
  #waiting: Buffer[] = []

  constructor(socket: WebSocket, turns: ReadingTurns, read: (frame: Buffer) => void) {
    this.#socket = socket
    this.#turns = turns
    this.#read = read
    socket.on('message', (data, isBinary) => {
      this.#receive(data, isBinary)
    })
  }

  readOne(): boolean {
    const frame = this.#waiting.shift()
    if (frame !== undefined) this.#read(frame)
    if (this.#waiting.length > 0) return true
    if (this.#socket.isPaused) this.#socket.resume()
    return false
  }

  /** Drops what waits: the socket is over. */
  clear(): void {
    this.#waiting = []
  }

  #receive(data: RawData, isBinary: boolean): void {
    // With the default binaryType a message is one Buffer.
    const frame = isBinary ? NOTHING : (data as Buffer)
    if (this.#waiting.length === 0 && this.#turns.hasTime()) {
      this.#read(frame)
      return
    }
    this.#waiting.push(frame)
    this.#socket.pause()
    this.#turns.wait(this)
  }
}
