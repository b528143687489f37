/** What Node's parser lets through and a second reader could take for another request (RFC 9112): refused before anything is done. */
import type { IncomingMessage } from 'node:http'
import { refuse } from '../../refusal/refusal.ts'
import type { Refusal } from '../../refusal/refusal.ts'
import { isHost } from '../host.ts'
import { authorityOf } from '../target.ts'

/** Header lines of one request; the parser itself would drop what is above its bound without a word. */
export const MAX_HEADERS = 100

/** A head that is not served: the connection ends with the answer. */
export interface HeadFault {
  readonly refusal: Refusal
  readonly status: number
}

/** What is wrong with the head of a request; null when nothing is. */
export function headFault(request: IncomingMessage): HeadFault | null {
  const { httpVersion, rawHeaders, headers } = request
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return fault('Send HTTP/1.1', 505)
  if (rawHeaders.length > 2 * MAX_HEADERS) return fault(`Send at most ${MAX_HEADERS} header lines`, 431)
  if (hostsIn(rawHeaders) !== 1) return fault('Send exactly one Host header')
  const { 'transfer-encoding': encoding, expect, host = '' } = headers
  if (!isHost(host)) return fault('The Host header is not host[:port]')
  const target = targetFault(request.url ?? '')
  if (target !== null) return target
  if (encoding !== undefined) {
    if (httpVersion === '1.0') return fault('HTTP/1.0 has no Transfer-Encoding')
    if (encoding.toLowerCase() !== 'chunked') return fault('The only Transfer-Encoding is chunked')
  }
  if (expect !== undefined && httpVersion === '1.1' && expect.toLowerCase() !== '100-continue')
    return fault('The only expectation that is met is 100-continue', 417)
  return null
}

/** A target is a path, or a URL whose host is read as the Host header is; a fragment never belongs in it (RFC 9112, section 3.2). */
function targetFault(target: string): HeadFault | null {
  if (target.includes('#')) return fault('A request target has no fragment')
  if (target.startsWith('/')) return null
  const authority = authorityOf(target)
  return authority === null || isHost(authority) ? null : fault('The host of the target is not host[:port]')
}

function fault(sentence: string, status = 400): HeadFault {
  return { refusal: refuse('invalid_request', sentence), status }
}

function hostsIn(rawHeaders: readonly string[]): number {
  let hosts = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? ''
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1
  }
  return hosts
}
