/** Replies of the public listener: the headers that each one carries, and how the pipeline writes one. */
import type { ServerResponse } from 'node:http'
import type { Budget, Hold } from '../../limits/byte-budget.ts'
import type { Raw } from '../../jsonrpc/raw.ts'
import type { Refusal } from '../../refusal/refusal.ts'
import type { RateState } from '../../ports/limits.ts'
import { sendWithTurn, whenSent, writePiece } from './write-batching.ts'
import { randomFillSync } from 'node:crypto'
import { connectionOf } from '../connection.ts'
import type { LongText } from '../../jsonrpc/long-text.ts'
import type { Sink } from '../../call/reply/sink.ts'
import { Departure } from '../../net/departure.ts'
import type { FairTurns } from '../fair-turns.ts'
import { sendLong } from './send-long.ts'

/** What a reply's headers are made of. */
export interface ReplyHead {
  readonly requestId: string
  readonly cors: readonly string[]
  readonly rate: RateState | null
}

/** The headers of a reply, as name, value, name, value. */
export function headersOf({ requestId, cors, rate }: ReplyHead): string[] {
  const headers = ['Content-Type', 'application/json', 'X-Request-Id', requestId, 'Cache-Control', 'no-store']
  if (rate !== null) {
    headers.push('X-RateLimit-Limit', String(rate.limit), 'X-RateLimit-Remaining', String(rate.remaining))
    headers.push('X-RateLimit-Reset', String(rate.reset))
  }
  headers.push(...cors)
  return headers
}

/** Sends a whole reply, with others of this turn of the loop. */
export function sendWhole(
  response: ServerResponse,
  status: number,
  headers: string[],
  body: Raw,
  budget: Budget | null = null,
): void {
  if (response.destroyed) return
  headers.push('Content-Length', String(body.length))
  sendWithTurn({ response, status, headers, body, budget })
}

/** Says of a reply whether it comes from the cache: hit or miss. */
export const CACHE_HEADER = 'X-Tollgate-Cache'

const NO_HEADERS: readonly string[] = []

/** ethers v6 reads Retry-After as milliseconds and would storm, so short waits are not told there. */
const SHORTEST_RETRY_AFTER = 5

/** `Retry-After` in seconds for a refusal that says how long to wait. */
export function retryAfterHeaders({ data }: Refusal): readonly string[] {
  const { retryAfterMs, resetsAt } = data
  const wait =
    typeof retryAfterMs === 'number'
      ? retryAfterMs / 1000
      : typeof resetsAt === 'number'
        ? resetsAt - Date.now() / 1000
        : 0
  return wait >= SHORTEST_RETRY_AFTER ? ['Retry-After', String(Math.ceil(wait))] : NO_HEADERS
}

/** Characters of an id: 96 random bits in base64url, so that no two are ever equal. */
const LENGTH = 16
const SIZE = (LENGTH / 4) * 3
/** Ids made of one draw: asking the system for bytes, and spelling them, costs more than an id. */
const BATCH = 512
/** The value of `-` in base64url: an id that began with it would be an option on a command line. */
const DASH = 62

const bytes = Buffer.alloc(SIZE * BATCH)

let pool = ''
let at = 0

/** A name for one request: random, so it tells nobody how many requests there were between two of theirs. */
export function nextRequestId(): string {
  if (at === pool.length) {
    randomFillSync(bytes)
    for (let i = 0; i < bytes.length; i += SIZE) while (bytes[i]! >> 2 === DASH) randomFillSync(bytes, i, 1)
    pool = bytes.toString('base64url')
    at = 0
  }
  at += LENGTH
  return pool.slice(at - LENGTH, at)
}

/** CORS (Fetch standard, "CORS protocol"): any page may call unless the operator lists origins; never credentials. */

const OWN = 'X-Request-Id, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After'
/** Seconds that a browser may keep a preflight's answer. */
const MAX_AGE = '86400'

/** The headers of a kind of reply that pages may read. */
export interface Exposed {
  readonly names: string
  /** What a reply says that any page may read, as name, value, name, value. */
  readonly any: readonly string[]
}

/** Those of every reply, and `more`. To be made once: joining their names for each reply costs 1 % of a short call. */
export function exposed(more: readonly string[] = []): Exposed {
  const names = [OWN, ...more].join(', ')
  return { names, any: ['Access-Control-Allow-Origin', '*', 'Access-Control-Expose-Headers', names] }
}

export const EXPOSED = exposed()

/** The CORS headers of a reply, as name, value, name, value. */
export function corsHeaders(
  origins: readonly string[],
  origin: string | undefined,
  { names, any }: Exposed = EXPOSED,
): readonly string[] {
  if (origins.includes('*')) return any
  const headers = ['Vary', 'Origin']
  if (origin !== undefined && origins.includes(origin))
    headers.push('Access-Control-Allow-Origin', origin, 'Access-Control-Expose-Headers', names)
  return headers
}

/** What a preflight is answered beyond that; requested headers are reflected (Solana's clients send their own). */
export function preflightHeaders(requested: string | undefined, verbs: readonly string[]): string[] {
  return [
    'Access-Control-Allow-Methods',
    [...verbs, 'OPTIONS'].join(', '),
    'Access-Control-Allow-Headers',
    requested ?? 'content-type',
    'Access-Control-Max-Age',
    MAX_AGE,
  ]
}

/** What Node reads of a reply when it writes the head. */
interface KeepAlive {
  _keepAliveTimeout: number
}
/** Has a reply say `Keep-Alive: timeout=…`, as replies of a server do whose bound is Node's. */
export function sayKeepAlive(response: ServerResponse, ms: number): void {
  const reply = response as unknown as KeepAlive
  reply._keepAliveTimeout = ms
}

/** Writes to one response. `head` is asked when the reply begins, so that it tells the rate after the call. */
export class HttpSink implements Sink {
  readonly streams = true
  readonly holder: Hold | null
  readonly #response: ServerResponse
  readonly #head: () => ReplyHead
  readonly #turns: FairTurns | null
  readonly #party: string
  #departure: Departure | null = null
  #cache: 'hit' | 'miss' | null = null

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

  get departure(): Departure {
    return (this.#departure ??= this.#watch())
  }

  #watch(): Departure {
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
    return departure
  }

  cached(status: 'hit' | 'miss'): void {
    this.#cache = status
  }

  whole(status: number, body: Raw, refusal: Refusal | null): void {
    // A reply that a drain has cut short is not said twice.
    if (this.#response.headersSent) return
    sendWhole(this.#response, status, this.#headers(refusal), body, this.holder?.budget ?? null)
  }

  async long(status: number, reply: LongText, refusal: Refusal | null): Promise<void> {
    await sendLong(this.#response, status, this.#headers(refusal), reply)
  }

  empty(): void {
    if (this.#response.destroyed || this.#response.headersSent) return
    const headers = this.#headers(null).slice(2) // a reply without a body has no Content-Type
    this.#response.writeHead(204, headers)
    this.#response.end()
  }

  begin(): void {
    this.#response.writeHead(200, this.#headers(null))
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
    if (this.#cache !== null) headers.push(CACHE_HEADER, this.#cache)
    if (refusal !== null) headers.push(...retryAfterHeaders(refusal))
    return headers
  }
}
