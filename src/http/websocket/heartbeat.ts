/** Pings one WebSocket, and ends its connection when the client is not there any more (RFC 6455, section 5.5.2). */
import type { WebSocket } from 'ws'
import type { SendQueue } from './send-queue.ts'

/** Milliseconds between pings; one that is not answered by the next ends the connection. */
const PING_EVERY = 30_000

/** Begins with the connection. */
export class Heartbeat {
  readonly #socket: WebSocket
  readonly #queue: SendQueue
  #isAlive = true
  #pingAt = performance.now() + PING_EVERY

  constructor(socket: WebSocket, queue: SendQueue) {
    this.#socket = socket
    this.#queue = queue
    socket.on('pong', () => {
      this.heard()
    })
  }

  /** Something came from the client. */
  heard(): void {
    this.#isAlive = true
  }

  /** To be called once a second, with milliseconds of the monotonic clock. */
  tick(now: number): void {
    // A ping may stand in what it has not read yet, and its pong in what is not read from it while calls are in flight.
    const isExcused = this.#socket.isPaused && this.#queue.isEmpty
    if (this.#queue.isBeingRead() || isExcused) this.#isAlive = true
    if (now < this.#pingAt) return
    this.#pingAt = now + PING_EVERY
    if (!this.#isAlive) {
      this.#socket.terminate()
      return
    }
    this.#isAlive = false
    this.#socket.ping()
  }
}
