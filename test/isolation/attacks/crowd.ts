import type { Socket } from 'node:net'
import type { Target } from '../harness/stage.ts'
import { drop, exchange, open } from './raw.ts'

const upgrade = (path: string) =>
  `GET ${path} HTTP/1.1\r\nHost: gateway\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
  'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n'

const sockets: Socket[] = []

/** Opens many WebSockets, two for each address as the public plan allows. */
export async function openSockets({ port, paths }: Target, options: { sockets: number }): Promise<object> {
  const addressOf = (n: number) => `127.1.${Math.floor(n / 2 / 250)}.${1 + (Math.floor(n / 2) % 250)}`
  while (sockets.length < options.sockets) {
    const some = Array.from({ length: 100 }, async (_, i) => {
      const socket = await open(port, addressOf(sockets.length + i))
      socket.write(upgrade(paths.public))
      await new Promise(resolve => socket.once('data', resolve).once('close', resolve))
      return socket
    })
    sockets.push(...(await Promise.all(some)))
  }
  return heldSockets()
}

/** How many of them are open. */
export function heldSockets(): { readonly held: number } {
  return { held: sockets.filter(({ destroyed }) => !destroyed).length }
}

/** Closes them all in one moment. */
export async function dropSockets(): Promise<void> {
  await drop(sockets.splice(0))
}

/** Scrapes the metrics again and again. */
export async function scrapes({ adminPort }: Target, options: { scrapes: number }): Promise<object> {
  let longest = 0
  for (let i = 0; i < options.scrapes; i++) {
    const begin = performance.now()
    await exchange(adminPort, 'GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n', 5_000)
    longest = Math.max(longest, performance.now() - begin)
  }
  return { ...heldSockets(), longestScrape: Math.round(longest) }
}

/** What a web page, or a name that was rebound, gets of the admin listener. */
export async function strangers({ adminPort }: Target): Promise<Record<string, string>> {
  const requests: Record<string, string> = {
    'another Host': 'GET /status HTTP/1.1\r\nHost: evil.example\r\n',
    'another Origin': 'GET /status HTTP/1.1\r\nHost: localhost\r\nOrigin: http://evil.example\r\n',
    'a form': 'POST /reload HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n',
    'its own': `GET /status HTTP/1.1\r\nHost: 127.0.0.1:${adminPort}\r\n`,
    'its own by name': `GET /status HTTP/1.1\r\nHost: localhost:${adminPort}\r\n`,
  }
  const statuses: Record<string, string> = {}
  for (const [name, head] of Object.entries(requests)) {
    const body = head.startsWith('POST') ? '{}' : ''
    const reply = await exchange(adminPort, `${head}Connection: close\r\n\r\n${body}`, 2_000)
    statuses[name] = /^HTTP\/1\.1 (\d+)/.exec(reply)?.[1] ?? 'none'
  }
  return statuses
}

/** Holds as many idle connections to the admin listener as it takes. */
export async function adminConnections({ adminPort }: Target, options: { count: number }): Promise<object> {
  const sockets = await Promise.all(Array.from({ length: options.count }, () => open(adminPort)))
  await new Promise(resolve => setTimeout(resolve, 500))
  const held = sockets.filter(({ destroyed, readyState }) => !destroyed && readyState === 'open').length
  await drop(sockets)
  return { held }
}
