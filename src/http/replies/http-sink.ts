/** An HTTP reply as the pipeline writes it. */
import type { ServerResponse } from 'node:http'
import type { Hold } from '../../limits/byte-budget.ts'
import type { Raw } from '../../jsonrpc/raw.ts'
import type { Refusal } from '../../refusal/refusal.ts'
import type { LongReply } from '../../call/reply/long-reply.ts'
import type { Sink } from '../../call/reply/sink.ts'
import { Departure } from '../websocket/departure.ts'
import type { FairTurns } from '../fair-turns.ts'
import { headersOf, retryAfterHeaders, sendWhole } from './reply.ts'
import type { ReplyHead } from './reply.ts'
import { sendLong } from './send-long.ts'
import { connectionOf } from '../connection.ts'
import { whenSent, writePiece } from './write-batching.ts'

/** Writes to one response. `head` is asked when the reply begins, so that it tells the rate after the call. */
export class HttpSink implements Sink {
  readonly streams = true
  readonly holder: Hold | null
  readonly #response: ServerResponse
  readonly #head: () => ReplyHead
  readonly #turns: FairTurns | null
  readonly #party: string

  constructor(
    response: ServerResponse,
    head: () => ReplyHead,
    hold: Hold | null = null,
    turns: FairTurns | null = null,
    party = '',
  ) {
    this.#response = response
    this.#head = head
    this.holder = hold
    this.#turns = turns
    this.#party = party
  }

  gone(): AbortSignal {
    const departure = new Departure()
    const response = this.#response
    const { socket } = response.req
    const over = (): void => {
      stay()
      if (!response.writableFinished) departure.leave()
    }
    // Of several replies that a connection waits for, Node notifies the first only.
    const stay = connectionOf(socket).whenGone(over)
    response.once('close', over)
    if (response.destroyed || socket.destroyed) over()
    return departure.signal
  }

  whole(status: number, body: Raw, refusal: Refusal | null): void {
    // A reply that a drain has cut short is not said twice.
    if (this.#response.headersSent) return
    sendWhole(this.#response, status, this.#headers(refusal), body, this.holder?.budget ?? null)
  }

  async long(status: number, reply: LongReply, refusal: Refusal | null): Promise<void> {
    await sendLong(this.#response, status, this.#headers(refusal), reply)
  }

  empty(): void {
    if (this.#response.destroyed || this.#response.headersSent) return
    const headers = headersOf(this.#head()).slice(2) // a reply without a body has no Content-Type
    this.#response.writeHead(204, headers)
    this.#response.end()
  }

  begin(): void {
    this.#response.writeHead(200, headersOf(this.#head()))
  }

  write(piece: Buffer): Promise<boolean> {
    return writePiece(this.#response, piece)
  }

  end(): void {
    this.#response.end()
  }

  later(goOn: () => void): void {
    if (this.#turns === null) throw new Error('only messages have turns')
    this.#turns.goOn(this.#response.req.socket, this.#party, goOn)
  }

  done(): void {
    const { holder: hold } = this
    if (hold === null) return
    if (hold.isCounted)
      whenSent(this.#response, () => {
        hold.release()
      })
    else hold.release()
  }

  cut(): void {
    this.#response.destroy()
  }

  #headers(refusal: Refusal | null): string[] {
    const headers = headersOf(this.#head())
    if (refusal !== null) headers.push(...retryAfterHeaders(refusal))
    return headers
  }
}
