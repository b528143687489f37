/** Notices when the other end of a socket is gone without a word. */
import type { WebSocket } from 'ws'

/** Milliseconds between pings, and how long an answer may take: at most, and at least. */
const SLOWEST = 15_000
const FASTEST = 1_000
/** Blocks in that time where they are quick: what a dead socket missed has to be few enough to be read again. */
const BLOCKS = 16

/** Milliseconds between pings of a network with so many milliseconds a block; null where that is not known. */
export function pingEvery(blockTime: number | null): number {
  return blockTime === null ? SLOWEST : Math.min(SLOWEST, Math.max(FASTEST, BLOCKS * blockTime))
}

/** Pings a socket as long as it is open, and cuts it when nothing comes back. */
export class Heartbeat {
  readonly #socket: WebSocket
  #alive = true

  /** `every`: milliseconds until the next ping. */
  constructor(socket: WebSocket, every: () => number) {
    this.#socket = socket
    let timer: NodeJS.Timeout
    const wait = (): void => {
      timer = setTimeout(() => {
        this.#ping()
        wait()
      }, every())
    }
    wait()
    socket.on('close', () => {
      clearTimeout(timer)
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
