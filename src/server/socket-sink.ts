/** A reply over a WebSocket: one text frame a message. */
import type { Hold } from '../budget/byte-budget.ts'
import type { Raw } from '../jsonrpc/raw.ts'
import type { LongReply } from '../pipeline/long-reply.ts'
import type { Sink } from '../pipeline/sink.ts'

/** Sends what the pipeline says through `send`; status and headers have no meaning here. */
export class SocketSink implements Sink {
  readonly streams = false
  readonly holder: Hold
  readonly #send: (frame: Raw | Buffer) => void
  readonly #fail: () => void
  readonly #gone: AbortSignal

  constructor(send: (frame: Raw | Buffer) => void, fail: () => void, gone: AbortSignal, hold: Hold) {
    this.holder = hold
    this.#gone = gone
    this.#send = send
    this.#fail = fail
  }

  gone(): AbortSignal {
    return this.#gone
  }

  whole(_: number, body: Raw): void {
    this.#send(body)
  }

  long(_: number, reply: LongReply): void {
    for (const frame of reply.pieces(reply.length)) this.#send(frame)
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

  done(): void {
    this.holder.release()
  }

  cut(): void {
    this.#fail()
  }
}
