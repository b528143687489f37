/** What waits to be sent to one WebSocket client, and whether the client reads it. */
import type { Socket } from 'node:net'
import type { Raw } from '../../jsonrpc/raw.ts'
import type { Budget } from '../../limits/byte-budget.ts'
import { headOf, textFrame } from '../../subscriptions/client/notification-frame.ts'
import type { NotificationFrame } from '../../subscriptions/client/notification-frame.ts'
import { corkForTurn } from '../replies/write-batching.ts'

/** Bytes above which nothing further is read from the client. */
const LONG = 1024 * 1024
/** Bytes at which a client that takes nothing is soon a slow consumer, and at which any client is one at once. */
const TOO_LONG = 16 * 1024 * 1024
const FAR_TOO_LONG = 4 * TOO_LONG
/**
 * Milliseconds without progress that make a client a slow consumer: with a long queue, and with one that is too long. The system takes
 * bytes in steps of its own window: a client that reads 300 KiB a second makes one every five seconds.
 */
const PATIENCE = 10_000
const SHORT_PATIENCE = 6_000
/** Bytes above which a queue is too long while `limits.memory` is spent. */
const LONG_WHEN_SHORT = 64 * 1024
/** Bytes of a queue that are not counted. */
const UNCOUNTED = 4 * 1024

/** The part of a TCP handle that says how much the system has taken. */
interface Handle {
  readonly bytesWritten?: number
  readonly writeQueueSize?: number
}

/**
 * Measures one connection, and draws on the budget what is queued for it. Messages go past ws, which makes an object and several buffers for each
 * and writes it in two parts: uncompressed, it has nothing of its own to send in between.
 */
export class SendQueue {
  readonly #socket: Socket
  readonly #budget: Budget
  #counted = 0
  /** Bytes that the system had taken when they were last looked at, and since when it has taken no more. */
  #sent = 0
  #since = performance.now()
  /** The same when `isBeingRead` was last asked, and whether any were left. */
  #seen = { sent: 0, isLeft: false }

  constructor(socket: Socket, budget: Budget) {
    this.#socket = socket
    this.#budget = budget
  }

  /** Sends a message at the end of this turn of the event loop; a short one as one text, which costs less than its bytes do. */
  send(message: Raw | Buffer): true {
    corkForTurn(this.#socket)
    if (typeof message === 'string') this.#socket.write(textFrame(message), 'latin1')
    else {
      this.#socket.write(headOf(message.length), 'latin1')
      this.#socket.write(message)
    }
    this.count()
    return true
  }

  /** Sends a notification in the same way. */
  notify(frame: NotificationFrame, id: Raw): true {
    corkForTurn(this.#socket)
    this.#socket.write(frame.with(id))
    this.count()
    return true
  }

  /** Whether so much waits that nothing further should be read. */
  get isLong(): boolean {
    return this.#socket.writableLength > LONG
  }

  /** Whether the system has all of it. */
  get isEmpty(): boolean {
    return this.#socket.writableLength === 0
  }

  /** Whether the client is too slow for one frame more. One frame may be nearly 16 MiB by itself, so those before it decide. */
  isOver(): boolean {
    const queued = this.#socket.writableLength
    if (queued > LONG_WHEN_SHORT && this.#budget.isOverdrawn) return true
    if (queued < TOO_LONG) return false
    return queued >= FAR_TOO_LONG || this.#idle() >= SHORT_PATIENCE
  }

  /** Whether a long queue has made no progress for too long; to be asked once a second. */
  isStuck(): boolean {
    const idle = this.#idle()
    return this.isLong && idle >= (this.#socket.writableLength < TOO_LONG ? PATIENCE : SHORT_PATIENCE)
  }

  /** Whether the system has taken any of what it had no room for when this was last asked, as it does when the client reads. */
  isBeingRead(): boolean {
    const { isLeft, sent: before } = this.#seen
    const { sent, left } = this.#taken()
    this.#seen = { sent, isLeft: left > 0 }
    return isLeft && sent !== before
  }

  /** Brings what is drawn from the budget up to date. What is queued is held already, so nothing is asked; new work is refused for it. */
  count(): void {
    const queued = this.#socket.writableLength
    if (queued <= UNCOUNTED && this.#counted === 0) return
    const bytes = queued <= UNCOUNTED ? 0 : queued
    this.#budget.giveBack(this.#counted - bytes)
    this.#counted = bytes
  }

  /** Gives back what is drawn: the connection is gone. */
  close(): void {
    this.#budget.giveBack(this.#counted)
    this.#counted = 0
  }

  /** Milliseconds since the system last took a byte. */
  #idle(): number {
    const now = performance.now()
    const { sent } = this.#taken()
    if (sent !== this.#sent || this.#socket.writableLength === 0) this.#since = now
    this.#sent = sent
    return now - this.#since
  }

  /** Bytes that the system has taken, and those that it had no room for. */
  #taken(): { readonly sent: number; readonly left: number } {
    const { bytesWritten = 0, writeQueueSize = 0 } =
      (this.#socket as unknown as { readonly _handle?: Handle | null })._handle ?? {}
    return { sent: bytesWritten - writeQueueSize, left: writeQueueSize }
  }
}
