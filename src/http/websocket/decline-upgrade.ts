/**
 * Gives a request with an `Upgrade` that is not for us (such as `h2c` of Java's HttpClient or `curl --http2`) back to the
 * HTTP server, so that it gets its normal answer (RFC 9110, section 7.8: a server may ignore Upgrade).
 */
import type { IncomingMessage, Server } from 'node:http'
import { Server as SecureServer } from 'node:https'
import type { Duplex } from 'node:stream'
import { connectionOf } from '../connection.ts'

/** Connection options that speak of the upgrade, and the header that goes with h2c. */
const OF_THE_UPGRADE = new Set(['upgrade', 'http2-settings'])

/** Upgrades that are declined on one connection; each leaves listeners of Node on the socket, so the connection ends behind the last. */
const MOST = 4

/** Puts the request's bytes back in front of what follows, without its upgrade, and lets the server read them anew. */
export function declineUpgrade(server: Server, request: IncomingMessage, socket: Duplex, head: Buffer): void {
  const connection = connectionOf(socket)
  connection.declined += 1
  const isLast = connection.declined >= MOST
  const lines = [`${request.method ?? ''} ${request.url ?? ''} HTTP/${request.httpVersion}`]
  for (let i = 0; i + 1 < request.rawHeaders.length; i += 2) {
    const [name = '', value = ''] = request.rawHeaders.slice(i, i + 2)
    const kept = keptValue(name.toLowerCase(), value)
    if (kept !== null && !(isLast && name.toLowerCase() === 'connection')) lines.push(`${name}: ${kept}`)
  }
  if (isLast) lines.push('Connection: close')
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]))
  server.emit(server instanceof SecureServer ? 'secureConnection' : 'connection', socket)
}

function keptValue(name: string, value: string): string | null {
  if (OF_THE_UPGRADE.has(name)) return null
  if (name !== 'connection') return value
  const options = value.split(',').map(option => option.trim())
  const kept = options.filter(option => option !== '' && !OF_THE_UPGRADE.has(option.toLowerCase()))
  return kept.length === 0 ? null : kept.join(', ')
}
