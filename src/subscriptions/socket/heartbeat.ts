/** Notices when the other end of a socket is gone without a word. */
import type { WebSocket } from 'ws'

/** Milliseconds between pings, and how long an answer may take. */
const PING_EVERY = 15_000

/** Pings a socket as long as it is open, and cuts it when nothing comes back. */
export class Heartbeat {
  readonly #socket: WebSocket
  #alive = true

  constructor(socket: WebSocket) {
    this.#socket = socket
    const pinging = setInterval(() => {
      this.#ping()
    }, PING_EVERY)
    socket.on('pong', () => {
      this.beat()
    })
    socket.on('close', () => {
      clearInterval(pinging)
    })
  }

  /** Something came. */
  beat(): void {
    this.#alive = true
  }

  #ping(): void {
    if (!this.#alive) {
      this.#socket.terminate()
      return
    }
    this.#alive = false
    this.#socket.ping()
  }
}
