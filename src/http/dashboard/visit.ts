/** One request of the dashboard, and how it is answered. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { encodeRefusal, rawJson } from '../../jsonrpc/raw.ts'
import { Hold } from '../../limits/byte-budget.ts'
import type { ByteBudget } from '../../limits/byte-budget.ts'
import { refuse, statusOf } from '../../refusal/refusal.ts'
import type { Refusal } from '../../refusal/refusal.ts'
import type { Raw } from '../../jsonrpc/raw.ts'
import { isShort, leaveRest } from '../body.ts'
import { retryAfterHeaders } from '../replies/reply.ts'
import { gzipLong, takesGzip } from './gzip.ts'
import { securityHeaders } from './security-headers.ts'

/** One request. */
export interface PageVisit {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly requestId: string
  /** Where bodies and long replies are counted. */
  readonly memory: ByteBudget
  /** For whom, until an account is signed in: the client's address. */
  readonly holder: string
  /** Told of each refusal. */
  readonly refused: (reason: Refusal['reason']) => void
}

/** Counts what is held for an account or address until the reply has been sent or the browser has left. */
export function holdFor({ memory, response }: PageVisit, holder: string): Hold {
  const hold = new Hold(memory.of(holder))
  response.once('close', () => {
    hold.release()
  })
  return hold
}

/** Sends a whole reply; a body that nobody has read decides whether the connection can be kept. */
export function send(
  { request, response }: PageVisit,
  status: number,
  headers: readonly string[],
  body: Buffer,
  safety: readonly string[] = securityHeaders,
): void {
  if (response.destroyed) return
  const all = [...headers, ...safety]
  if (status !== 304) all.push('Content-Length', String(body.length))
  if (!isShort(request)) all.push('Connection', 'close')
  response.writeHead(status, all)
  response.end(request.method === 'HEAD' ? undefined : body)
  leaveRest(request, response)
}

/** Sends a value as JSON. */
export function sendJson(visit: PageVisit, value: unknown, headers: readonly string[] = []): void {
  sendRaw(visit, 200, headers, rawJson(value))
}

/** Sends a refusal as every other part of the gateway words it. */
export function sendRefusal(
  visit: PageVisit,
  refusal: Refusal,
  headers: readonly string[] = [],
  id: Raw = 'null',
): void {
  visit.refused(refusal.reason)
  const waiting = retryAfterHeaders(refusal)
  const body = encodeRefusal(refusal, id, 'evm', visit.requestId)
  sendRaw(visit, statusOf(refusal), [...headers, ...waiting], body)
}

/** Sends JSON bytes, to be kept nowhere. */
export function sendRaw(visit: PageVisit, status: number, headers: readonly string[], body: Raw): void {
  send(visit, status, [...jsonHeaders(visit), ...headers], Buffer.from(body, 'latin1'))
}

/** Sends JSON bytes that may be many, compressed where the browser takes that; `overloaded` where there is no room for them. */
export async function sendLong(visit: PageVisit, hold: Hold, raw: Raw): Promise<void> {
  if (hold.take(raw.length) !== null) {
    sendRefusal(visit, refuse('overloaded'))
    return
  }
  const body = Buffer.from(raw, 'latin1')
  const packed = takesGzip(visit.request.headers['accept-encoding']) ? await gzipLong(body) : null
  const encoding = packed === null ? [] : ['Content-Encoding', 'gzip']
  send(visit, 200, [...jsonHeaders(visit), 'Vary', 'Accept-Encoding', ...encoding], packed ?? body)
}

function jsonHeaders({ requestId }: PageVisit): readonly string[] {
  return ['Content-Type', 'application/json', 'X-Request-Id', requestId, 'Cache-Control', 'no-store']
}
