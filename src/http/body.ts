/** The body of a request: read as far as it may be, asked for (`Expect: 100-continue`), or left, and the connection with it. */
import { IncomingMessage } from 'node:http'
import type { ServerResponse } from 'node:http'
import type { Holder } from '../limits/byte-budget.ts'
import { connectionOf } from './connection.ts'

/** Chunks of a body that may be of any size; of more the average is bounded, because each costs far more memory than a few bytes. */
const FREE_CHUNKS = 1024
const SMALLEST_AVERAGE = 64

/** Why there is no body. */
export type NoBody = 'too_large' | 'no_room' | 'gone'

/** The whole body, or why there is none, within a bound in bytes. */
export function readBody(
  request: IncomingMessage,
  limit: number,
  holder: Holder | null,
): Promise<Buffer | NoBody> {
  return new Promise(resolve => {
    collectBody(request, limit, holder, resolve)
  })
}

/**
 * Tells `done` once of the whole body, or why there is none. Stops reading as soon as the bound is passed, or `holder` has no room for
 * a piece.
 */
export function collectBody(
  request: IncomingMessage,
  limit: number,
  holder: Holder | null,
  done: (body: Buffer | NoBody) => void,
): void {
  if (Number(request.headers['content-length'] ?? 0) > limit) {
    done('too_large')
    return
  }
  sendContinue(request)
  const pieces = new Pieces(request, limit, holder, done)
  request.on('close', pieces.gone)
  if (request instanceof ClientRequest && request.handTo(pieces)) return
  request.on('data', pieces.take)
  request.on('end', pieces.end)
}

/** The pieces of one body, until it is whole or refused. */
class Pieces {
  readonly #request: IncomingMessage
  readonly #limit: number
  readonly #holder: Holder | null
  readonly #done: (body: Buffer | NoBody) => void
  #first: Buffer | null = null
  #others: Buffer[] | null = null
  #size = 0
  #chunks = 0
  #isOver = false

  constructor(
    request: IncomingMessage,
    limit: number,
    holder: Holder | null,
    done: (body: Buffer | NoBody) => void,
  ) {
    this.#request = request
    this.#limit = limit
    this.#holder = holder
    this.#done = done
  }

  readonly take = (chunk: Buffer): void => {
    if (this.#isOver) return
    this.#size += chunk.length
    this.#chunks += 1
    const isDust = this.#chunks > FREE_CHUNKS && this.#size < this.#chunks * SMALLEST_AVERAGE
    if (this.#size > this.#limit || isDust || (this.#holder?.take(chunk.length) ?? null) !== null) {
      this.#request.pause()
      this.#finish(this.#size > this.#limit ? 'too_large' : 'no_room')
    } else if (this.#first === null) this.#first = chunk
    else if (this.#others === null) this.#others = [this.#first, chunk]
    else this.#others.push(chunk)
  }

  readonly end = (): void => {
    const body = this.#others === null ? (this.#first ?? EMPTY) : Buffer.concat(this.#others)
    // The request lives as long as its call, which needs the bytes no more once it is read.
    this.#first = this.#others = null
    this.#finish(body)
  }

  readonly gone = (): void => {
    this.#finish('gone')
  }

  #finish(body: Buffer | NoBody): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#done(body)
  }
}

/** What Node's server keeps of a request: whether somebody reads its body, and which request a connection's parser is at. */
interface Incoming {
  _consuming: boolean
  readonly socket: { readonly parser?: { incoming: unknown } | null }
}

/**
 * A request that can hand its body over as Node's parser finds it. As a stream, the one piece that most bodies are costs listeners, a buffer and
 * two ticks for its end (bench/http-server.ts).
 */
export class ClientRequest extends IncomingMessage {
  #pieces: Pieces | null = null

  /** Hands what comes of the body to `pieces`; false where some of it has come already, which the stream has. */
  handTo(pieces: Pieces): boolean {
    if (this.complete || this.readableLength > 0) return false
    this.#pieces = pieces
    asIncoming(this)._consuming = true
    return true
  }

  /** What follows stays in the stream, for whoever resumes it. */
  override pause(): this {
    this.#pieces = null
    return super.pause()
  }

  /** Called by the parser, at the end with null. */
  override push(chunk: Buffer | null): boolean {
    const pieces = this.#pieces
    if (pieces === null) return super.push(chunk)
    if (chunk === null) {
      this.#pieces = null
      // The parser would keep the request until its connection has the next one.
      const { parser } = asIncoming(this).socket
      if (parser?.incoming === this) parser.incoming = null
      pieces.end()
    } else pieces.take(chunk)
    return true
  }
}

function asIncoming(request: ClientRequest): Incoming {
  return request as unknown as Incoming
}

const EMPTY = Buffer.alloc(0)

// No two runs of blanks meet: a head holds 16 KiB of them.
const JSON_IN_UTF8 =
  /^application\/json(?:-rpc|request)?\s*(?:;\s*(?:charset\s*=\s*"?utf-?8"?\s*(?:;\s*)?)?)?$/i

/**
 * Whether a Content-Type says JSON in UTF-8 and nothing else (RFC 8259, section 8.1). Some clients write `utf8`, or the types that JSON-RPC
 * over HTTP names besides.
 */
export function isJson(contentType: string | undefined): boolean {
  if (contentType === 'application/json') return true
  return JSON_IN_UTF8.test(contentType ?? '')
}

/** Bodies up to this many bytes are read to their end, so that the connection can be kept. */
const WORTH_READING = 64 * 1024
/** Bytes of a body that nobody wants which are read at most, and milliseconds after which its connection is cut. */
const LINGER_BYTES = 1024 * 1024
const LINGER_TIME = 2_000

/** Requests after which the connection ends whatever their bodies. */
const last = new WeakSet<IncomingMessage>()

/** Ends the connection with the answer to this request. */
export function endAfter(request: IncomingMessage): void {
  last.add(request)
}

/** Whether the rest of the body is short enough to be read for the sake of the connection. */
export function isShort(request: IncomingMessage): boolean {
  if (last.has(request) || awaitsContinue(request)) return false
  if (request.complete) return true
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers
  return encoding === undefined && Number(length ?? 0) <= WORTH_READING
}

/** Whether a request came behind one after which the connection ends: nobody answers it. */
export function isEnding({ socket }: IncomingMessage): boolean {
  return connectionOf(socket).isEnding
}

/**
 * Behind an early reply: reads what is left of a short body, for the sake of the connection, or a little of a long one before the connection is cut. Nothing
 * behind a long one is answered.
 */
export function leaveRest(request: IncomingMessage, response: ServerResponse): void {
  if (isShort(request)) {
    if (!request.complete) request.resume()
    return
  }
  connectionOf(request.socket).isEnding = true
  // Before its turn the answers to earlier requests are still to come, which the cut would take along.
  if (response.socket !== null) linger(request)
  else
    response.once('socket', () => {
      linger(request)
    })
}

/**
 * Reads a little, then nothing more, and cuts after a while. A client that is still sending has until then to read the reply: bytes that nobody
 * reads would reset it away with the cut.
 */
function linger(request: IncomingMessage): void {
  const { socket } = request
  const before = socket.bytesRead
  const timer = setTimeout(() => {
    socket.destroy()
  }, LINGER_TIME)
  socket.once('close', () => {
    clearTimeout(timer)
    // Node forgets a request with its reply: whoever waits for the rest of the body would wait for ever.
    request.destroy()
  })
  // Node would destroy the socket right behind the reply, and bytes not read by then would reset the reply away.
  socket.destroySoon = () => {
    socket.end()
  }
  request.on('data', () => {
    if (socket.bytesRead - before <= LINGER_BYTES) return
    // It would resume the socket for the next piece.
    request._read = () => undefined
    socket.pause()
  })
  request.resume()
  socket.resume()
}

const waiting = new WeakMap<IncomingMessage, ServerResponse>()

/** Remembers that the client waits to be asked for its body. */
export function awaitContinue(request: IncomingMessage, response: ServerResponse): void {
  waiting.set(request, response)
}

/** Whether the client was not asked for its body: it may come all the same, or not. */
export function awaitsContinue(request: IncomingMessage): boolean {
  return waiting.has(request)
}

/** Asks for the body, where the client waits for that. */
export function sendContinue(request: IncomingMessage): void {
  waiting.get(request)?.writeContinue()
  waiting.delete(request)
}
