/** Tells a reader who makes no progress from one who is only slow (design, "WebSocket"). */
import type { Socket } from 'node:net'

/** Bytes that may be queued for a client that does not read. */
const MAX_QUEUED = 8 * 1024 * 1024
/** Milliseconds without any progress. */
const PATIENCE = 10_000

/** The part of a TCP handle that says how much the system has not taken yet. */
interface Handle {
  readonly writeQueueSize?: number
}

/** Watches one connection; asked about once a second. */
export class SlowReader {
  readonly #socket: Socket
  #left = 0
  #since = 0

  constructor(socket: Socket) {
    this.#socket = socket
  }

  /** Whether more than 8 MiB have waited for 10 s without a byte of progress. `now` in milliseconds. */
  isStuck(now: number): boolean {
    // One long frame counts as queued until its last byte is taken, so the system's own queue has to be asked as well.
    const handle = (this.#socket as unknown as { readonly _handle?: Handle | null })._handle
    const left = this.#socket.writableLength + (handle?.writeQueueSize ?? 0)
    const progress = left < this.#left || this.#socket.writableLength <= MAX_QUEUED
    this.#left = left
    if (progress || this.#since === 0) this.#since = now
    return !progress && now - this.#since >= PATIENCE
  }
}
