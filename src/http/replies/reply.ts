/** Writes replies of the public listener: the headers that each one carries, and the body in one piece. */
import type { ServerResponse } from 'node:http'
import type { Budget } from '../../limits/byte-budget.ts'
import type { Raw } from '../../jsonrpc/raw.ts'
import type { Refusal } from '../../refusal/refusal.ts'
import type { RateState } from '../../ports/limits.ts'
import { sendWithTurn } from './write-batching.ts'
import { randomFillSync } from 'node:crypto'

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
/** Ids made of one draw: asking the system for bytes, and spelling them, costs more than an id. */
const BATCH = 512

const bytes = Buffer.alloc((LENGTH / 4) * 3 * BATCH)

let pool = ''
let at = 0

/** A name for one request: random, so it tells nobody how many requests there were between two of theirs. */
export function nextRequestId(): string {
  if (at === pool.length) {
    pool = randomFillSync(bytes).toString('base64url')
    at = 0
  }
  at += LENGTH
  return pool.slice(at - LENGTH, at)
}

/** CORS (Fetch standard, "CORS protocol"): any page may call unless the operator lists origins; never credentials. */

const EXPOSED = 'X-Request-Id, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After'
const ANY = ['Access-Control-Allow-Origin', '*', 'Access-Control-Expose-Headers', EXPOSED]
/** Seconds that a browser may keep a preflight's answer. */
const MAX_AGE = '86400'

/** The CORS headers of a reply, as name, value, name, value; `more` names further headers that pages may read. */
export function corsHeaders(
  origins: readonly string[],
  origin: string | undefined,
  more: readonly string[] = [],
): readonly string[] {
  if (more.length === 0 && origins.includes('*')) return ANY
  const exposed = more.length === 0 ? EXPOSED : `${EXPOSED}, ${more.join(', ')}`
  if (origins.includes('*'))
    return ['Access-Control-Allow-Origin', '*', 'Access-Control-Expose-Headers', exposed]
  const headers = ['Vary', 'Origin']
  if (origin !== undefined && origins.includes(origin))
    headers.push('Access-Control-Allow-Origin', origin, 'Access-Control-Expose-Headers', exposed)
  return headers
}

/** What a preflight is answered beyond that; requested headers are reflected (Solana's clients send their own). */
export function preflightHeaders(requested: string | undefined, verbs: readonly string[]): string[] {
  return [
    ...['Access-Control-Allow-Methods', [...verbs, 'OPTIONS'].join(', ')],
    ...['Access-Control-Allow-Headers', requested ?? 'content-type'],
    ...['Access-Control-Max-Age', MAX_AGE],
  ]
}
