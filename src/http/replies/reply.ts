/** Writes replies of the public listener: the headers that each one carries, and the body in one piece. */
import type { ServerResponse } from 'node:http'
import type { Budget } from '../../limits/byte-budget.ts'
import type { Raw } from '../../jsonrpc/raw.ts'
import type { Refusal } from '../../refusal/refusal.ts'
import type { RateState } from '../../ports/limits.ts'
import { sendWithTurn } from './write-batching.ts'

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
