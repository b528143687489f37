/** A reply over a WebSocket: one text frame a message. */
import type { Hold } from '../../limits/byte-budget.ts'
import type { Raw } from '../../jsonrpc/raw.ts'
import type { LongText } from '../../jsonrpc/long-text.ts'
import type { Sink } from '../../call/reply/sink.ts'
import type { Departure } from '../../net/departure.ts'

/** What a sink needs of its socket. */
export interface SinkSocket {
  send(frame: Raw | Buffer): unknown
  readonly departure: Departure
  close(code: number, reason: string): void
  /** Calls `goOn` when the socket has its turn. */
  later(goOn: () => void): void
}

/** Sends what the pipeline says as frames; status and headers have no meaning here. */
export class SocketSink implements Sink {
  readonly streams = false
  readonly holder: Hold
  readonly #socket: SinkSocket

  constructor(socket: SinkSocket, hold: Hold) {
    this.holder = hold
    this.#socket = socket
  }

  get departure(): Departure {
    return this.#socket.departure
  }

  whole(_: number, body: Raw): void {
    this.#socket.send(body)
  }

  long(_: number, reply: LongText): void {
    for (const frame of reply.pieces(reply.length)) this.#socket.send(frame)
  }

  empty(): void {
    // Nothing is said to a notification.
  }

  begin(): void {
    throw new Error('a socket does not stream')
  }

  write(): Promise<boolean> {
    throw new Error('a socket does not stream')
  }

  end(): void {
    throw new Error('a socket does not stream')
  }

  later(goOn: () => void): void {
    this.#socket.later(goOn)
  }

  done(): void {
    this.holder.release()
  }

  /** A bug of ours has ended the message. */
  cut(): void {
    this.#socket.close(1011, 'internal error')
  }
}
