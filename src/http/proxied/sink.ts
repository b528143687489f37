/** An HTTP reply whose head and body are an upstream's. */
import type { Raw } from '../../jsonrpc/raw.ts'
import { isRefusal } from '../../refusal/refusal.ts'
import type { Refusal } from '../../refusal/refusal.ts'
import type { VerbatimAnswer } from '../../call/reply/answer.ts'
import type { VerbatimSink } from '../../call/proxied/sink.ts'
import type { MaybePromise } from '../../ports/maybe-promise.ts'
import { HttpSink, headersOf, retryAfterHeaders, sendWhole } from '../replies/reply.ts'
import { isShort, leaveRest } from '../body.ts'
import type { ReplyHead } from '../replies/reply.ts'
import { mayIdle } from '../connections/idle-reply.ts'
import type { Departure } from '../../net/departure.ts'

/** On every reply: whatever an upstream sends is never run as a page of ours. */
const HARDENING = [
  'X-Content-Type-Options',
  'nosniff',
  'Content-Security-Policy',
  "default-src 'none'; sandbox",
]

/** Milliseconds between the system's own questions whether a silent client is still there. */
const PROBE_EVERY = 30_000

/** Takes a place for an event stream; `stop` ends it. */
export type Hold = (route: string, stop: () => void) => MaybePromise<(() => void) | Refusal>

type ProxiedRequest = VerbatimSink['proxied']

/** Writes to one response what an upstream sends, or a refusal. */
export class ResponseSink implements VerbatimSink {
  readonly streams = true
  readonly holder = null
  readonly proxied: ProxiedRequest
  stopped = false
  readonly #inner: HttpSink
  readonly #head: () => ReplyHead
  readonly #hold: Hold

  constructor(proxied: ProxiedRequest, head: () => ReplyHead, hold: Hold) {
    this.proxied = proxied
    this.#inner = new HttpSink(proxied.response, head)
    this.#head = head
    this.#hold = hold
  }

  get departure(): Departure {
    return this.#inner.departure
  }

  hold(answer: VerbatimAnswer): MaybePromise<Refusal | null> {
    const held = this.#hold(answer.route, () => {
      this.stopped = true
      answer.body.destroy()
    })
    return held instanceof Promise ? held.then(taken => this.#held(taken)) : this.#held(held)
  }

  /** Gives its place back with the end of the reply. */
  #held(held: (() => void) | Refusal): Refusal | null {
    if (isRefusal(held)) return held
    const { response } = this.proxied
    if (response.destroyed) held()
    else response.once('close', held)
    return null
  }

  beginVerbatim(answer: VerbatimAnswer): void {
    const { request, response, verb } = this.proxied
    if (response.headersSent) throw new Error('the reply was cut short')
    // The first two are the Content-Type of our own replies.
    const headers = [...headersOf(this.#head()).slice(2), ...HARDENING, ...answer.headers]
    // Where only the end of its connection marks the end of the upstream's reply, no more is known than that.
    const isOpenEnded = !answer.isFramed && verb !== 'HEAD' && answer.status !== 204 && answer.status !== 304
    if (isOpenEnded) response.useChunkedEncodingByDefault = false
    if (isOpenEnded || !isShort(request)) headers.push('Connection', 'close')
    response.writeHead(answer.status, headers)
    if (!answer.endless) return
    response.flushHeaders()
    mayIdle(response)
    response.socket?.setKeepAlive(true, PROBE_EVERY)
  }

  whole(status: number, body: Raw, refusal: Refusal | null): void {
    const { request, response } = this.proxied
    if (response.headersSent) return
    const headers = headersOf(this.#head())
    if (refusal !== null) headers.push(...retryAfterHeaders(refusal))
    if (!isShort(request)) response.shouldKeepAlive = false
    sendWhole(response, status, headers, body)
    leaveRest(request, response)
  }

  long(): void {
    throw new Error('an answer of ours to a verbatim request is short')
  }

  later(): void {
    throw new Error('a verbatim request is one call')
  }

  empty(): void {
    this.#inner.empty()
  }

  begin(): void {
    this.#inner.begin()
  }

  write(piece: Buffer): Promise<boolean> {
    return this.#inner.write(piece)
  }

  end(): void {
    this.#inner.end()
    leaveRest(this.proxied.request, this.proxied.response)
  }

  cut(): void {
    this.#inner.cut()
  }

  done(): void {
    // Nothing is held: bodies pass through both ways.
  }
}
