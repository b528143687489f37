import { setTimeout as pause } from 'node:timers/promises'
import type { Test } from 'tap'
import { closeMidBody, hang, reply, resetBeforeReply, resetMidBody, type Handler } from './node-replies.ts'

/** What a node in trouble puts into its texts and headers, and what a route's URL carries: no client may ever see it. */
const secret = /node-secret|operator-secret/

/** Headers by which a client could tell the upstream. */
const told = { 'x-node': 'node-secret', server: 'node-secret', 'set-cookie': 'node-secret=1' }

/** Answers with a status and a text that is no JSON-RPC reply. */
export function plain(status: number, headers: Record<string, string> = {}): Handler {
  return reply(status, 'node-secret is unwell', { ...told, ...headers, 'content-type': 'text/plain' })
}

/** Answers with an error object; a node in trouble may give it any status. */
export function fault(
  code: number,
  text: string,
  status = 200,
  headers: Record<string, string> = {},
): Handler {
  const error = JSON.stringify({ code, message: text })
  return reply(status, id => `{"jsonrpc":"2.0","id":${id},"error":${error}}`, { ...told, ...headers })
}

/** A whole reply to somebody else's call. */
export const wrongId = reply(
  200,
  id => `{"jsonrpc":"2.0","id":${Number(id) + 1},"result":"node-secret"}`,
  told,
)

/** A web page with status 200, as captive proxies send. */
export const page = reply(200, '<html>node-secret</html>', { ...told, 'content-type': 'text/html' })

/** Sends its reply so slowly that it never gets there, and stops when nobody listens any more. */
export const drip: Handler = async ({ id }, response) => {
  response.writeHead(200, { 'content-type': 'application/json', ...told })
  response.write(`{"jsonrpc":"2.0","id":${id},"result":"`)
  while (!response.destroyed) {
    response.write('x')
    await pause(20)
  }
}

/** Ways in which a node fails every call, whatever the call is. */
export const failures: Readonly<Record<string, Handler>> = {
  'reset-before': resetBeforeReply,
  'reset-mid': resetMidBody,
  'cut-close': closeMidBody,
  hang,
  drip,
  page,
  empty: reply(200, '', told),
  'http-401': fault(401, 'node-secret wants a key', 401),
  'http-403': plain(403),
  'http-408': plain(408),
  'http-429': plain(429),
  'http-429-later': fault(429, 'node-secret', 429, { 'retry-after': '30' }),
  'http-500': plain(500),
  'http-502': plain(502),
  'http-503': plain(503),
  'limit-32005': fault(-32005, 'node-secret limit exceeded'),
  'limit-429': fault(429, 'node-secret'),
  'wrong-id': wrongId,
}

/** Fails where a text that clients or operators can read tells of an upstream. */
export function tellsNothing(t: Test, text: string, what: string, ports: readonly number[] = []): void {
  t.notMatch(text, secret, `${what} holds no secret`)
  const named = ports.filter(port => text.includes(`127.0.0.1:${port}`))
  t.same(named, [], `${what} names no upstream`)
}
