/** Collects the reply of one exchange with an upstream. */
import { Readable } from 'node:stream'
import type { Handler } from './connections.ts'
import { headerOf } from './exchange.ts'
import type { Exchange, ExchangeLimits } from './exchange.ts'
import { ReplyTurns } from './reply-turns.ts'
import { BodyError, type Break } from './streamed-body.ts'

/** Why an exchange is ended early, without a stack: streams read it of each error, which costs more than the rest. */
function plainError(message: string): Error {
  const error = new Error(message)
  error.stack = message
  return error
}

const ATTEMPT_OVER = plainError('the attempt is over')
const CLIENT_LEFT = plainError('the client left')

/** Bytes of a reply that cost as much to read as the connection costs to be ended amid one, and made anew. */
const COST_OF_AN_END = 256 * 1024

const SILENCE = 60_000

/** The event loop's turns are one for all upstreams. */
const turns = new ReplyTurns()

/**
 * Collects a reply for one request. undici calls it by its older interface, around which 7.x wraps the newer one: an object of all headers, a controller
 * and three calls more a reply, which come to 3 % of a forwarded call (docs/decisions/code.md).
 */
export class Collector implements Handler {
  connection: Handler['connection'] = null
  readonly #limits: ExchangeLimits
  readonly #resolve: (exchange: Exchange) => void
  /** For the attempt, and once the reply is open for its silence. */
  #timer: NodeJS.Timeout
  readonly #onAbort = (): void => {
    this.break('aborted')
  }
  readonly #retire = (): void => {
    this.connection?.retire()
  }
  /** Ends the request; null until it has a connection. */
  #abort: ((reason: Error) => void) | null = null
  #isAborted = false
  /** Reads on; null until the reply begins. */
  #resume: (() => void) | null = null
  #isPaused = false
  #chunks: Buffer[] = []
  #size = 0
  /** Bytes taken from the holder. */
  #held = 0
  #status = 0
  #retryAfter: string | null = null
  #tail: Readable | null = null
  #waits = false
  /** Whether it goes on in a later turn. */
  #isResting = false
  /** Whether nothing further of the reply is read: it is going to be ended. */
  #isRefused = false
  #done = false

  constructor(limits: ExchangeLimits, resolve: (exchange: Exchange) => void) {
    this.#limits = limits
    this.#resolve = resolve
    this.#timer = setTimeout(() => {
      this.break(this.#waits ? 'no_turn' : 'timeout')
    }, limits.timeout)
    limits.departure?.on(this.#onAbort)
  }

  /** The request waits for its turn. */
  wait(): void {
    this.#waits = true
  }

  /** The request is sent now. What it has waited is not the upstream's time. */
  begin(): void {
    if (this.#waits) this.#timer.refresh()
    this.#waits = false
  }

  onConnect(abort: (reason?: Error) => void): void {
    this.#abort = abort
    // The wait for a connection outlived the attempt: nothing has been written yet, and nothing will be.
    if (this.#done) this.#end(ATTEMPT_OVER)
  }

  /** Returns whether to read on, as `onData` does. */
  onHeaders(status: number, headers: readonly Buffer[], resume: () => void): boolean {
    this.#resume = resume
    this.#status = status
    this.#retryAfter = headerOf(headers, 'retry-after')
    const { maxBytes } = this.#limits
    // Any other status is judged without a body, or says what is wrong in a short one.
    if (maxBytes !== null && status === 200 && Number(headerOf(headers, 'content-length') ?? 0) > maxBytes)
      this.break('too_large')
    return !this.#isPaused
  }

  onData(chunk: Buffer): boolean {
    // undici tells of a piece without bytes when it goes on after a pause.
    if (!this.#isRefused && chunk.length > 0) this.#take(chunk)
    return !this.#isPaused
  }

  #take(chunk: Buffer): void {
    this.#size += chunk.length
    const { maxBytes, holdBack } = this.#limits
    if (maxBytes !== null && this.#size > maxBytes) {
      if (this.#tail === null) this.#refuse('too_large')
      else this.break('too_large')
      return
    }
    if (this.#tail !== null) {
      this.#timer.refresh()
      if (!this.#tail.push(chunk)) this.#isPaused = true
      this.#rest(chunk.length)
      return
    }
    const noRoom = this.#limits.holder?.take(chunk.length) ?? null
    if (noRoom !== null) {
      this.#refuse(noRoom)
      return
    }
    this.#held += chunk.length
    this.#chunks.push(chunk)
    if (this.#size > holdBack) this.#open()
    this.#rest(chunk.length)
  }

  /** Where this turn of the loop has taken in enough of long replies, the rest of this one comes in a later turn. */
  #rest(bytes: number): void {
    if (this.#isResting || turns.count(bytes, this.#size)) return
    this.#isResting = true
    this.#isPaused = true
    turns.rest(bytes, () => {
      this.#isResting = false
      const tail = this.#tail
      const wanted = tail === null ? !this.#done : tail.readableLength < tail.readableHighWaterMark
      if (wanted) this.#readOn()
    })
  }

  /** Reads no more of it, and ends it when the turns of long replies come to it. */
  #refuse(how: 'no_room' | 'too_large'): void {
    this.#isRefused = true
    this.#isPaused = true
    turns.take(COST_OF_AN_END, () => {
      this.break(how)
    })
  }

  onComplete(): void {
    this.connection?.succeeded()
    if (this.#isRefused) return
    if (this.#tail !== null) {
      clearTimeout(this.#timer)
      this.#tail.push(null)
    } else {
      // It is all here, and waits for nobody but us.
      clearTimeout(this.#timer)
      turns.take(this.#size, () => {
        if (this.#done) return
        const body = this.#body().toString('latin1')
        const retire = this.#retire
        this.#finish({ kind: 'whole', status: this.#status, retryAfter: this.#retryAfter, body, retire })
      })
    }
  }

  onEnd(): void {
    this.#isPaused = false
    this.#resume?.()
  }

  onError(): void {
    this.connection?.failed()
    this.break(this.#abort === null ? 'unreachable' : 'reset')
  }

  /** Ends the exchange early. */
  break(how: Break): void {
    if (this.#done) this.#tail?.destroy(new BodyError(how))
    else {
      // Nobody has it yet who would hear of an error.
      this.#tail?.destroy()
      this.#chunks = []
      if (this.#held > 0) this.#limits.holder?.giveBack(this.#held)
      this.#finish({ kind: 'broken', how, sent: this.#abort !== null })
    }
    this.#end(ATTEMPT_OVER)
  }

  #readOn(): void {
    if (!this.#isPaused || this.#isAborted) return
    this.#isPaused = false
    this.#resume?.()
  }

  /** Ends the request, once, where it has begun. */
  #end(reason: Error): void {
    if (this.#abort === null || this.#isAborted) return
    this.#isAborted = true
    this.#abort(reason)
  }

  #open(): void {
    this.#tail = new Readable({
      highWaterMark: this.#limits.holdBack,
      read: () => {
        if (!this.#isPaused || this.#isResting) return
        // While its reader was slow the upstream had no chance to say anything.
        this.#timer.refresh()
        this.#readOn()
      },
      destroy: (error, done) => {
        clearTimeout(this.#timer)
        this.#end(error ?? CLIENT_LEFT)
        done(error)
      },
    })
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      if (this.#isPaused) this.#timer.refresh()
      else this.break('timeout')
    }, this.#limits.silence ?? SILENCE)
    const tail = this.#tail
    turns.take(this.#size, () => {
      this.#finish({ kind: 'open', status: this.#status, head: this.#body(), tail })
    })
  }

  #body(): Buffer {
    const chunks = this.#chunks
    this.#chunks = []
    return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks)
  }

  #finish(exchange: Exchange): void {
    if (this.#done) return
    this.#done = true
    // An open reply goes on, with a time of its own, and may still be ended.
    if (exchange.kind !== 'open') {
      clearTimeout(this.#timer)
      this.#limits.departure?.off(this.#onAbort)
    }
    this.#resolve(exchange)
  }
}
