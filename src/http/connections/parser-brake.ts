/**
 * Stops Node's HTTP parser between two pipelined requests. `socket.pause()` only stops reading: what one read has brought, up to 64 KiB, is
 * parsed to its end and can hold hundreds of requests. The parser itself stops where a request's head makes `onIncoming` return llhttp's
 * HPE_PAUSED; what it had not parsed goes back to the socket. Where a version of Node has no such parser, nothing stops here and the
 * gate's bound on waiting requests ends the connection instead.
 */
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { ByteBudget } from '../../limits/byte-budget.ts'

/** llhttp's HPE_PAUSED, as a callback's result. */
const PAUSED = 21

/** Bytes that one read brings at most, which wait where the parser stops. */
const READ = 64 * 1024

/** The parts of Node's parser that are used; stable from Node 12 to 26. */
interface Parser {
  onIncoming: ((request: IncomingMessage, keepAlive: boolean) => number) | null
  resume(): void
}

/** A server's socket: its parser, and whether Node holds it back because replies are not read. */
type ParsedSocket = Socket & {
  readonly parser?: Partial<Parser> | null
  readonly _paused?: boolean
  readonly _handle?: { reading: boolean; readStart(): void } | null
}

/** The error by which Node reports where the parser stopped. */
interface Stop {
  readonly code?: string
  readonly bytesParsed?: number
  readonly rawPacket?: Buffer
}

/** The parser of one connection, from the connection's begin, or from its return to HTTP after a declined upgrade. */
export class ParserBrake {
  /** Whether the parser stops behind the head of the next request. */
  full = false
  #stopped = false
  readonly #socket: ParsedSocket
  readonly #parser: Partial<Parser>
  /** Node's own listener for bytes that are not read by the parser directly. */
  readonly #parse: ((bytes: Buffer) => void) | undefined
  #isGated = false
  readonly #budget: ByteBudget | null
  #isCounted = false

  /** To be made right after Node has taken the connection. */
  constructor(socket: Socket, budget: ByteBudget | null) {
    this.#socket = socket
    this.#budget = budget
    this.#parser = this.#socket.parser ?? {}
    this.#parse = socket.listeners('data').at(-1) as ((bytes: Buffer) => void) | undefined
    const { onIncoming } = this.#parser
    if (typeof onIncoming !== 'function' || this.#parse === undefined) return
    this.#parser.onIncoming = (request, keepAlive) => {
      const wasFull = this.full
      const result = onIncoming(request, keepAlive)
      if (result !== 0) this.#ungate()
      return result === 0 && wasFull ? PAUSED : result
    }
  }

  /** Whether an error only reports that the parser has stopped, or that a request which it left unread came too slowly. */
  takes({ code, bytesParsed = 0, rawPacket }: Stop): boolean {
    if (code === 'HPE_PAUSED' && rawPacket !== undefined) {
      this.#stopped = true
      if (!this.#count()) {
        this.#socket.destroy()
        return true
      }
      this.#gate()
      this.#socket.pause()
      const rest = rawPacket.subarray(bytesParsed)
      if (rest.length > 0) this.#socket.unshift(rest)
      return true
    }
    return this.#stopped && code === 'ERR_HTTP_REQUEST_TIMEOUT'
  }

  /** Goes on where the parser stopped; nothing happens where it did not. */
  release(): void {
    if (!this.#stopped && !this.#socket.isPaused()) return
    if (this.#stopped) {
      this.#stopped = false
      this.#giveBack()
      this.#parser.resume?.()
    }
    // A socket that Node holds back until its replies are read goes on by itself.
    if (this.#socket._paused !== true) this.#socket.resume()
  }

  /** Counts what waits unparsed; false when there is no memory for it. */
  #count(): boolean {
    if (this.#isCounted || this.#budget === null) return true
    this.#isCounted = this.#budget.take(READ)
    return this.#isCounted
  }

  #giveBack(): void {
    if (this.#isCounted) this.#budget?.giveBack(READ)
    this.#isCounted = false
  }

  /** From the first stop on the parser gets its bytes through the socket, which keeps them in order, and only while it may go on. */
  #gate(): void {
    if (this.#isGated || this.#parse === undefined) return
    this.#isGated = true
    this.#socket.off('data', this.#parse)
    this.#socket.on('data', this.#feed)
    this.#socket.once('close', () => {
      this.#giveBack()
    })
    const handle = this.#socket._handle ?? null
    if (handle === null || handle.reading) return
    // Stopped while the parser read it: the stream believes that a read is under way, and would wait for it.
    handle.reading = true
    handle.readStart()
  }

  /** The connection leaves HTTP: an upgrade, or CONNECT. */
  #ungate(): void {
    this.#socket.off('data', this.#feed)
  }

  readonly #feed = (bytes: Buffer): void => {
    if ((this.#stopped && this.full) || this.#socket._paused === true) {
      this.#socket.pause()
      this.#socket.unshift(bytes)
    } else this.#parse?.(bytes)
  }
}
