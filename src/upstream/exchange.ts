/** One HTTP exchange with one upstream: bytes out, bytes or a break in. No meaning is read into them here. */
import { Readable } from 'node:stream'
import type { Dispatcher } from 'undici'
import type { Holder } from '../budget/byte-budget.ts'
import type { Raw } from '../jsonrpc/raw.ts'
import { ReplyTurns } from './reply-turns.ts'
import { BodyError } from './streamed-body.ts'
import type { Break } from './streamed-body.ts'

/** How an exchange broke, and whether the upstream may have seen the request. */
export interface Broken {
  readonly kind: 'broken'
  readonly how: Break
  readonly sent: boolean
}

/** What came back. */
export type Exchange =
  | {
      readonly kind: 'whole'
      readonly status: number
      readonly retryAfter: string | null
      readonly body: Raw
    }
  /** The reply is longer than what is held back: its first part, and the rest as it comes. */
  | { readonly kind: 'open'; readonly status: number; readonly head: Buffer; readonly tail: Readable }
  | Broken

/** Bounds of one exchange. */
export interface ExchangeLimits {
  /** Milliseconds until the first `holdBack` bytes, or all, have come. */
  readonly timeout: number
  /** Bytes kept before a reply is handed on open. */
  readonly holdBack: number
  /** Most bytes of a reply; null is no cap. */
  readonly maxBytes: number | null
  /** Ends the exchange early; null where nobody may. */
  readonly signal: AbortSignal | null
  /** Milliseconds that an open reply may be silent while the client reads; a minute where nothing is said. */
  readonly silence?: number
  /** Where what is held back is counted; nowhere for questions of our own. */
  readonly holder?: Holder | null
}

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

/** Collects a reply for one request; undici calls it. */
export class Collector implements Dispatcher.DispatchHandler {
  readonly #limits: ExchangeLimits
  readonly #resolve: (exchange: Exchange) => void
  /** For the attempt, and once the reply is open for its silence. */
  #timer: NodeJS.Timeout
  readonly #onAbort = (): void => {
    this.break('aborted')
  }
  #controller: Dispatcher.DispatchController | null = null
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
    limits.signal?.addEventListener('abort', this.#onAbort)
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

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    // The wait for a connection outlived the attempt: nothing has been written yet, and nothing will be.
    if (this.#done) controller.abort(ATTEMPT_OVER)
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: Record<string, unknown>): void {
    this.#status = status
    const retryAfter = headers['retry-after']
    if (typeof retryAfter === 'string') this.#retryAfter = retryAfter
    const { maxBytes } = this.#limits
    // Any other status is judged without a body, or says what is wrong in a short one.
    if (maxBytes !== null && status === 200 && Number(headers['content-length'] ?? 0) > maxBytes)
      this.break('too_large')
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    // undici tells of a piece without bytes when it goes on after a pause.
    if (this.#isRefused || chunk.length === 0) return
    this.#size += chunk.length
    const { maxBytes, holdBack } = this.#limits
    if (maxBytes !== null && this.#size > maxBytes) {
      if (this.#tail === null) this.#refuse(controller, 'too_large')
      else this.break('too_large')
      return
    }
    if (this.#tail !== null) {
      this.#timer.refresh()
      if (!this.#tail.push(chunk)) controller.pause()
      this.#rest(controller, chunk.length)
      return
    }
    const noRoom = this.#limits.holder?.take(chunk.length) ?? null
    if (noRoom !== null) {
      this.#refuse(controller, noRoom)
      return
    }
    this.#held += chunk.length
    this.#chunks.push(chunk)
    if (this.#size > holdBack) this.#open(controller)
    this.#rest(controller, chunk.length)
  }

  /** Where this turn of the loop has taken in enough of long replies, the rest of this one comes in a later turn. */
  #rest(controller: Dispatcher.DispatchController, bytes: number): void {
    if (this.#isResting || turns.count(bytes, this.#size)) return
    this.#isResting = true
    controller.pause()
    turns.rest(bytes, () => {
      this.#isResting = false
      const tail = this.#tail
      const wanted = tail === null ? !this.#done : tail.readableLength < tail.readableHighWaterMark
      if (wanted && controller.paused && !controller.aborted) controller.resume()
    })
  }

  /** Reads no more of it, and ends it when the turns of long replies come to it. */
  #refuse(controller: Dispatcher.DispatchController, how: 'no_room' | 'too_large'): void {
    this.#isRefused = true
    controller.pause()
    turns.take(COST_OF_AN_END, () => {
      this.break(how)
    })
  }

  onResponseEnd(): void {
    if (this.#isRefused) return
    if (this.#tail !== null) {
      clearTimeout(this.#timer)
      this.#tail.push(null)
    } else {
      // It is all here, and waits for nobody but us.
      clearTimeout(this.#timer)
      turns.take(this.#size, () => {
        if (this.#done) return
        const body = this.#take().toString('latin1')
        this.#finish({ kind: 'whole', status: this.#status, retryAfter: this.#retryAfter, body })
      })
    }
  }

  onResponseError(): void {
    this.break(this.#controller === null ? 'unreachable' : 'reset')
  }

  /** Ends the exchange early. */
  break(how: Broken['how']): void {
    if (this.#done) this.#tail?.destroy(new BodyError(how))
    else {
      // Nobody has it yet who would hear of an error.
      this.#tail?.destroy()
      this.#chunks = []
      if (this.#held > 0) this.#limits.holder?.giveBack(this.#held)
      this.#finish({ kind: 'broken', how, sent: this.#controller !== null })
    }
    if (this.#controller?.aborted === false) this.#controller.abort(ATTEMPT_OVER)
  }

  #open(controller: Dispatcher.DispatchController): void {
    this.#tail = new Readable({
      highWaterMark: this.#limits.holdBack,
      read: () => {
        if (!controller.paused || this.#isResting) return
        // While its reader was slow the upstream had no chance to say anything.
        this.#timer.refresh()
        controller.resume()
      },
      destroy: (error, done) => {
        clearTimeout(this.#timer)
        if (!controller.aborted) controller.abort(error ?? CLIENT_LEFT)
        done(error)
      },
    })
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      if (controller.paused) this.#timer.refresh()
      else this.break('timeout')
    }, this.#limits.silence ?? SILENCE)
    const tail = this.#tail
    turns.take(this.#size, () => {
      this.#finish({ kind: 'open', status: this.#status, head: this.#take(), tail })
    })
  }

  #take(): Buffer {
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
      this.#limits.signal?.removeEventListener('abort', this.#onAbort)
    }
    this.#resolve(exchange)
  }
}
