import type { Target } from '../harness/stage.ts'
import { call, drop, open, post, pour } from './raw.ts'

/** Requests that nobody will read the answers of, as many as are taken, and then an end without a word. */
async function unread({ port }: Target, request: string, requests: number): Promise<object> {
  const socket = await open(port)
  socket.pause()
  const bytes = await pour(socket, request.repeat(100), requests / 100, 2_000)
  await drop([socket])
  return { requests: Math.round(bytes / request.length) }
}

/** With bodies: calls on the public route. */
export async function bodies(target: Target): Promise<object> {
  return unread(target, post(target.paths.public, call('eth_chainId', [])), 240_000)
}

/** Without: pages. */
export async function heads(target: Target): Promise<object> {
  return unread(target, 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n', 240_000)
}
