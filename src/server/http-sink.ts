/** An HTTP reply as the pipeline writes it. */
import type { ServerResponse } from 'node:http'
import type { Hold } from '../budget/byte-budget.ts'
import type { Raw } from '../jsonrpc/raw.ts'
import type { Refusal } from '../jsonrpc/refusal.ts'
import type { Sink } from '../pipeline/sink.ts'
import { headersOf, retryAfterHeaders, sendWhole } from './reply.ts'
import type { ReplyHead } from './reply.ts'
import { whenSent } from './unsent.ts'

/** Milliseconds that a client may leave a streamed reply unread. */
const STALL = 30_000

/** Writes to one response. `head` is asked when the reply begins, so that it tells the rate after the call. */
export class HttpSink implements Sink {
  readonly streams = true
  readonly holder: Hold | null
  readonly #response: ServerResponse
  readonly #head: () => ReplyHead

  constructor(response: ServerResponse, head: () => ReplyHead, hold: Hold | null = null) {
    this.#response = response
    this.#head = head
    this.holder = hold
  }

  gone(): AbortSignal {
    const controller = new AbortController()
    this.#response.once('close', () => {
      if (!this.#response.writableFinished) controller.abort()
    })
    return controller.signal
  }

  whole(status: number, body: Raw, refusal: Refusal | null): void {
    // A reply that a drain has cut short is not said twice.
    if (this.#response.headersSent) return
    const headers = headersOf(this.#head())
    if (refusal !== null) headers.push(...retryAfterHeaders(refusal))
    sendWhole(this.#response, status, headers, body, this.holder?.budget ?? null)
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

  async write(piece: Buffer): Promise<boolean> {
    const response = this.#response
    if (response.destroyed) return false
    if (response.write(piece)) return true
    return new Promise(resolve => {
      const over = (): void => {
        clearTimeout(timer)
        response.off('drain', over).off('close', over)
        resolve(!response.destroyed)
      }
      const timer = setTimeout(() => {
        response.destroy()
        over()
      }, STALL)
      response.on('drain', over).on('close', over)
    })
  }

  end(): void {
    this.#response.end()
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
}
