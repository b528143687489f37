/** Collects the reply of one exchange with an upstream. */
import { Readable } from 'node:stream'
import type { Raw } from '../../jsonrpc/raw.ts'
import type { Connection, Handler } from './connection.ts'
import type { ReplyHead } from './reply-parser.ts'
import type { Exchange, ExchangeLimits } from './exchange.ts'
import { ReplyTurns } from './reply-turns.ts'
import { connectFault } from './cause.ts'
import { BodyError, type Break } from './streamed-body.ts'

/** Bytes of a reply that cost as much to read as the connection costs to be ended amid one, and made anew. */
const COST_OF_AN_END = 256 * 1024

const SILENCE = 60_000

/** Pieces that are joined where they hold less than a KiB each: one costs a hundred bytes beside its own. */
const MANY = 256

/** The event loop's turns are one for all upstreams. */
const turns = new ReplyTurns()

/** Collects a reply for one request. */
export class Collector implements Handler {
  readonly #limits: ExchangeLimits
  readonly #resolve: (exchange: Exchange) => void
  /** For the attempt, and once the reply is open for its silence. */
  #timer: NodeJS.Timeout
  readonly #onAbort = (): void => {
    this.break('aborted')
  }
  readonly #retire = (): void => {
    this.#connection?.retire()
  }
  /** What it was sent over; null until it was. */
  #connection: Connection | null = null
  #isPaused = false
  #chunks: (Buffer | Raw)[] = []
  /** Of them, those that have been looked at for whether to join them, and the bytes there were then. */
  #joined = { pieces: 0, bytes: 0 }
  #size = 0
  /** Bytes taken from the holder. */
  #held = 0
  #status = 0
  #lines: Raw = ''
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

  onSent(connection: Connection): void {
    this.#connection = connection
    // The wait for a connection outlived the attempt: nothing has been written yet, and nothing will be.
    if (this.#done) connection.abort(this)
  }

  onHead({ status, retryAfter, length, lines }: ReplyHead): void {
    this.#status = status
    this.#lines = lines
    this.#retryAfter = retryAfter
    const { maxBytes } = this.#limits
    // Any other status is judged without a body, or says what is wrong in a short one.
    if (maxBytes !== null && status === 200 && (length ?? 0) > maxBytes) this.break('too_large')
  }

  onData(piece: Buffer | Raw): void {
    if (!this.#isRefused && piece.length > 0) this.#take(piece)
  }

  #take(chunk: Buffer | Raw): void {
    this.#size += chunk.length
    const { maxBytes, holdBack } = this.#limits
    if (maxBytes !== null && this.#size > maxBytes) {
      if (this.#tail === null) this.#refuse('too_large')
      else this.break('too_large')
      return
    }
    if (this.#tail !== null) {
      this.#timer.refresh()
      if (!this.#tail.push(bytesOf(chunk))) this.#pause()
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
    if (this.#chunks.length - this.#joined.pieces >= MANY) this.#join()
    if (this.#size > holdBack) this.#open()
    this.#rest(chunk.length)
  }

  #join(): void {
    const { pieces, bytes } = this.#joined
    if (this.#size - bytes < MANY * 1024)
      this.#chunks.push(Buffer.concat(this.#chunks.splice(pieces).map(bytesOf)))
    this.#joined = { pieces: this.#chunks.length, bytes: this.#size }
  }

  /** Where this turn of the loop has taken in enough of long replies, the rest of this one comes in a later turn. */
  #rest(bytes: number): void {
    if (this.#isResting || turns.count(bytes, this.#size)) return
    this.#isResting = true
    this.#pause()
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
    this.#pause()
    turns.take(COST_OF_AN_END, () => {
      this.break(how)
    })
  }

  onComplete(): void {
    if (this.#isRefused) return
    if (this.#tail !== null) {
      clearTimeout(this.#timer)
      this.#tail.push(null)
    } else {
      // It is all here, and waits for nobody but us.
      clearTimeout(this.#timer)
      turns.take(this.#size, () => {
        if (this.#done) return
        const body = this.#text()
        const [status, retryAfter, lines, retire] = [
          this.#status,
          this.#retryAfter,
          this.#lines,
          this.#retire,
        ]
        this.#finish({ kind: 'whole', status, retryAfter, body, lines, retire })
      })
    }
  }

  onError(error: Error): void {
    if (this.#connection === null) this.break('unreachable', connectFault(error))
    else this.break('reset')
  }

  /** Ends the exchange early. */
  break(how: Break, cause: string | null = null): void {
    this.#isRefused = true
    if (this.#done) this.#tail?.destroy(new BodyError(how))
    else {
      // Nobody has it yet who would hear of an error.
      this.#tail?.destroy()
      this.#chunks = []
      if (this.#held > 0) this.#limits.holder?.giveBack(this.#held)
      this.#finish({ kind: 'broken', how, sent: this.#connection !== null, ...(cause && { cause }) })
    }
    this.#connection?.abort(this)
  }

  #pause(): void {
    this.#isPaused = true
    this.#connection?.pause()
  }

  #readOn(): void {
    if (!this.#isPaused) return
    this.#isPaused = false
    this.#connection?.resume(this)
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
        this.#connection?.abort(this)
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
    const chunks = this.#chunks.splice(0)
    return Buffer.concat(chunks.map(bytesOf))
  }

  #text(): Raw {
    const chunks = this.#chunks
    this.#chunks = []
    const [first] = chunks
    if (chunks.length === 1 && typeof first === 'string') return first
    return Buffer.concat(chunks.map(bytesOf)).toString('latin1')
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

function bytesOf(piece: Buffer | Raw): Buffer {
  return typeof piece === 'string' ? Buffer.from(piece, 'latin1') : piece
}
