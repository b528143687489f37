import type { IncomingMessage } from 'node:http'
import { TLSSocket } from 'node:tls'
import { inRange, parseRange } from '../../net/address-range.ts'

/** Whether the browser came over TLS: to us, or to a proxy that is believed and says so. */
export function cameOverTls(
  { socket, headers }: IncomingMessage,
  trustedProxies: readonly string[],
): boolean {
  if (socket instanceof TLSSocket) return true
  const told = headers['x-forwarded-proto']
  if (typeof told !== 'string' || told.split(',').at(-1)?.trim().toLowerCase() !== 'https') return false
  const peer = socket.remoteAddress
  return peer !== undefined && trustedProxies.some(range => inRange(peer, parseRange(range)))
}
