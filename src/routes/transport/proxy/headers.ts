/**
 * Which headers pass through on verbatim HTTP networks. Data: what is not named here stays behind, so no credential or
 * cookie of a client reaches an upstream, and no cookie, redirect or server name of an upstream reaches a client.
 */
import type { IncomingHttpHeaders } from 'node:http'

/** From the client to the upstream. Content-Length goes only with a body; Transfer-Encoding is made anew. */
export const REQUEST_HEADERS: readonly string[] = [
  // What the client can read, and what it sends
  'accept',
  'accept-encoding',
  'accept-language',
  'content-type',
  'content-encoding',
  'content-length',
  // Conditions on what it has already
  'if-match',
  'if-none-match',
  'if-modified-since',
  'if-unmodified-since',
  'if-range',
  'range',
  // Where an event stream is taken up again
  'last-event-id',
  // Beacon and builder API
  'eth-consensus-version',
  'eth-consensus-dependent-root',
  'date-milliseconds',
  'x-timeout-ms',
]

/** From the upstream to the client. */
export const RESPONSE_HEADERS: readonly string[] = [
  'content-type',
  'content-encoding',
  'content-language',
  'content-length',
  'content-range',
  'accept-ranges',
  'etag',
  'last-modified',
  // Beacon and builder API
  'eth-consensus-version',
  'eth-consensus-block-value',
  'eth-execution-payload-blinded',
  'eth-execution-payload-value',
]

/** The headers of a request that go upstream. */
export function forwardedHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const kept = REQUEST_HEADERS.flatMap(name => {
    const value = headers[name]
    return typeof value === 'string' ? [[name, value] as const] : []
  })
  return Object.fromEntries(kept)
}

/** The headers of a reply that go to the client, as name, value, name, value. */
export function returnedHeaders(status: number, headers: IncomingHttpHeaders): string[] {
  return RESPONSE_HEADERS.flatMap(name => {
    const value = headers[name]
    // A 204 has no body, and must not have a length (RFC 9110, section 8.6).
    const isWrong = status === 204 && name === 'content-length'
    return typeof value === 'string' && !isWrong ? [name, value] : []
  })
}
