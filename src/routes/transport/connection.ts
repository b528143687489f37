/**
 * One connection to an upstream, with one request at a time. HTTP/1.1 for calls is written and read here and not by undici, which is made for any
 * request: that was a quarter of a relayed call (docs/decisions/code.md).
 */
import { CONNECT_TIMEOUT } from './cause.ts'
import { connect as connectTcp } from 'node:net'
import type { Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { LONG } from '../../jsonrpc/long-text.ts'
import type { LongText } from '../../jsonrpc/long-text.ts'
import type { Raw } from '../../jsonrpc/raw.ts'
import { ReplyParser } from './reply-parser.ts'
import type { ReplyListener } from './reply-parser.ts'

/** Idle milliseconds after which a connection is closed: below the 5 s that common servers keep theirs. */
const IDLE = 4_000
/** Milliseconds before the end that an upstream announces for an idle connection. */
const SPARE = 1_000
/** Milliseconds of silence after which the system asks whether the other side is still there. */
const PROBE_AFTER = 60_000

/** All connections read into the same memory: what is kept of a read is copied in the turn that brings it. */
const memory = Buffer.alloc(64 * 1024)

/** What hears of a request. */
export interface Handler extends ReplyListener {
  /** Called when it is sent, with what it is sent over. */
  onSent(connection: Connection): void
  /** The reply is whole. */
  onComplete(): void
  /** The request broke, or was never sent. */
  onError(error: Error): void
}

/** A request as it is written, and what hears of it. */
export interface Request {
  readonly text: Raw | LongText
  readonly handler: Handler
}

/** Where connections lead. */
export interface Origin {
  readonly url: URL
  /** An IPv6 address is without its brackets. */
  readonly host: string
  /** The name whose certificate is trusted over TLS; that of `host` where it is undefined. */
  readonly servername: string | undefined
  /** Milliseconds for a connection to be made. */
  readonly connectTimeout: number
  /** Of the last one over TLS, with which the next handshake is shorter. */
  session: Buffer | undefined
}

/** Who keeps the connections. */
export interface Owner {
  /** A reply is whole, and its connection can send the next request; `isReused` where it was not its first. */
  free(connection: Connection, isReused: boolean): void
  /** A connection sends nothing more. `byUpstream`: the other side ended it when it might have been used again. */
  drop(connection: Connection, byUpstream: boolean): void
}

/** Opened when it is made. */
export class Connection {
  /** When it became idle, by the monotonic clock, and for how many milliseconds it may be. */
  idleSince = 0
  keptFor = IDLE
  readonly #socket: Socket
  readonly #owner: Owner
  readonly #parser = new ReplyParser()
  readonly #ageing: NodeJS.Timeout
  readonly #connecting: NodeJS.Timeout
  #isOpen = false
  /** What is sent once it is open. */
  #waiting: Request | null = null
  /** Who hears of the request in flight. */
  #handler: Handler | null = null
  /** Whether anything of its reply has come. */
  #hasBegun = false
  #isReused = false
  /** Whether pieces of a long request are still to be written. */
  #isSending = false
  #isPaused = false
  /** Not for new requests. */
  #isOld = false
  #error: Error | null = null

  /** It is not used for longer than `age` milliseconds. */
  constructor(origin: Origin, owner: Owner, age: number) {
    this.#owner = owner
    this.#socket = open(origin, this.#read)
    this.#ageing = setTimeout(() => {
      this.retire()
    }, age).unref()
    this.#connecting = setTimeout(() => {
      this.#socket.destroy(new Error(CONNECT_TIMEOUT))
    }, origin.connectTimeout)
    this.#socket.once(origin.url.protocol === 'https:' ? 'secureConnect' : 'connect', this.#opened)
    // It is closed in a later turn: until then it must not be taken for one that can be used.
    this.#socket.on('error', error => {
      this.#error = error
      this.#closed()
    })
    this.#socket.once('end', this.#ended)
    this.#socket.once('close', this.#closed)
  }

  /** Sends a request now, or as soon as it is open. */
  send(request: Request): void {
    if (!this.#isOpen) {
      this.#waiting = request
      return
    }
    const { text, handler } = request
    this.#handler = handler
    this.#hasBegun = false
    handler.onSent(this)
    // Nobody may wait for the reply any more.
    if (this.#socket.destroyed) return
    if (typeof text === 'string') this.#socket.write(text, 'latin1')
    else this.#sendLong(text)
  }

  /** Writes a piece in a turn of the event loop, as soon as the system has the one before. */
  #sendLong(text: LongText): void {
    const pieces = text.pieces(LONG)
    let left = text.length
    const next = (): void => {
      const { value: piece } = pieces.next()
      if (piece === undefined || this.#socket.destroyed) return
      left -= piece.length
      this.#isSending = left > 0
      this.#socket.write(piece, () => setImmediate(next))
    }
    next()
  }

  /** Reads no further than what has come. To be called when some of the reply does. */
  pause(): void {
    this.#isPaused = true
  }

  /** Reads on, where the request of this handler is not over. */
  resume(handler: Handler): void {
    if (this.#handler === handler) this.#readOn()
  }

  /** Over TLS the end of a reply may come behind a pause: records that have been read are handed on all the same. */
  #readOn(): void {
    this.#isPaused = false
    this.#socket.resume()
  }

  /** Ends the request of a handler, which hears of it, and the connection with it; nothing happens where it is over. */
  abort(handler: Handler): void {
    if (this.#handler === handler) this.#break(new Error('the request was ended'))
  }

  /** Whether this handler's request waits for it to be opened. */
  isFor(handler: Handler): boolean {
    return this.#waiting?.handler === handler
  }

  /** Sends no further request: it is too old, or may still bring replies to what was answered. */
  retire(): void {
    this.#isOld = true
    if (this.#handler === null && this.#waiting === null) this.destroy()
  }

  /** Whether it has been ended. */
  get isOver(): boolean {
    return this.#socket.destroyed
  }

  /** Cuts it; who waits for a reply hears of it. */
  destroy(): void {
    this.#owner.drop(this, false)
    this.#socket.destroy()
  }

  /** Resolves when it is closed. */
  closed(): Promise<void> {
    if (this.#socket.closed) return Promise.resolve()
    return new Promise(resolve => {
      this.#socket.once('close', () => {
        resolve()
      })
    })
  }

  readonly #opened = (): void => {
    clearTimeout(this.#connecting)
    this.#isOpen = true
    const waiting = this.#waiting
    this.#waiting = null
    if (waiting !== null) this.send(waiting)
  }

  /** Takes in what has come; returns whether to read on. */
  readonly #read = (length: number): boolean => {
    const handler = this.#handler
    // Nothing was asked: it might be taken for the reply to whoever asks next.
    if (handler === null) this.#break(new Error('the upstream sent what nobody had asked for'))
    else
      try {
        this.#hasBegun = true
        const end = this.#parser.read(memory, length, handler)
        if (this.#handler !== handler) return true
        if (end === 'fault') this.#break(new Error('the upstream sent no HTTP/1.1'))
        else if (end !== null) this.#complete(handler, end < length)
      } catch (error) {
        if (this.#handler === handler) this.#break(error as Error)
        else handler.onError(error as Error)
      }
    return !this.#isPaused
  }

  #complete(handler: Handler, isMore: boolean): void {
    this.#handler = null
    if (this.#isPaused) this.#readOn()
    this.keptFor = Math.min(IDLE, this.#parser.keptFor - SPARE)
    // Behind a reply that came before all of the request had left, the rest of it would still be on its way.
    const isKept =
      !isMore && !this.#isOld && this.keptFor > 0 && !this.#isSending && this.#socket.writableLength === 0
    const isReused = this.#isReused
    this.#isReused = true
    if (isKept) this.#owner.free(this, isReused)
    else this.destroy()
    handler.onComplete()
  }

  /** The upstream has ended its side: of a reply without a length that is the end too. */
  readonly #ended = (): void => {
    if (this.#handler !== null && this.#parser.endsWithConnection) this.#complete(this.#handler, false)
    else this.#closed()
  }

  readonly #closed = (): void => {
    clearTimeout(this.#ageing)
    clearTimeout(this.#connecting)
    const isBetween = this.#handler === null || !this.#hasBegun
    this.#owner.drop(this, this.#isReused && isBetween)
    this.#break(this.#error ?? new Error('the upstream closed the connection'))
  }

  #break(error: Error): void {
    const handler = this.#handler ?? this.#waiting?.handler
    this.#handler = this.#waiting = null
    this.destroy()
    handler?.onError(error)
  }
}

function open(origin: Origin, callback: (length: number) => boolean): Socket {
  const { url, host, servername, session } = origin
  const options = {
    host,
    onread: { buffer: memory, callback },
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: PROBE_AFTER,
  }
  if (url.protocol !== 'https:') return connectTcp({ ...options, port: Number(url.port || 80) })
  const socket = connectTls({
    ...options,
    port: Number(url.port || 443),
    ALPNProtocols: ['http/1.1'],
    servername,
    session,
  })
  socket.on('session', next => {
    origin.session = next
  })
  // It may be what the upstream did not bear.
  return socket.once('error', () => {
    origin.session = undefined
  })
}
