import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { Gate } from './gate.ts'
import type { NodeRequest } from './scripted-node.ts'

/** Answers one request at a scripted node. */
export type Handler = (request: NodeRequest, response: ServerResponse) => void | Promise<void>

/** A body whose id is put in where the call is known. */
export type Body = string | ((id: string) => string)

/** Answers with any status, body and headers. */
export function reply(status: number, body: Body, headers: Record<string, string> = {}): Handler {
  return ({ id }, response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(typeof body === 'string' ? body : body(id))
  }
}

/** Answers 200 with a result given as raw JSON text. */
export function result(raw: string): Handler {
  return reply(200, id => `{"jsonrpc":"2.0","id":${id},"result":${raw}}`)
}

/** Answers 200 with an error object given as raw JSON text. */
export function error(raw: string): Handler {
  return reply(200, id => `{"jsonrpc":"2.0","id":${id},"error":${raw}}`)
}

/** Answers with the params as the result. */
export const echo: Handler = (request, response) => result(request.params)(request, response)

/** What a reverse proxy in front of a node says when it is unwell. */
export const html = reply(200, '<html><body>502 Bad Gateway</body></html>', { 'content-type': 'text/html' })

/** A 200 without a body. */
export const empty = reply(200, '')

/** A body that stops in the middle of its JSON, well framed by HTTP. */
export const brokenJson = reply(200, id => `{"jsonrpc":"2.0","id":${id},"result":{"a":`)

/** Never answers. */
export const hang: Handler = () => undefined

/** Cuts the connection before any byte of the reply. */
export const resetBeforeReply: Handler = (_, response) => {
  response.socket?.resetAndDestroy()
}

/** Promises a length, sends the beginning, and cuts the connection. */
export const resetMidBody: Handler = async ({ id }, response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' })
  await new Promise(resolve => response.write(`{"jsonrpc":"2.0","id":${id},"result":"abc`, resolve))
  response.socket?.destroy()
}

/** Sends a beginning without a length, and closes the connection as if that were all. */
export const closeMidBody: Handler = ({ id }, response) => {
  const head = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n'
  response.socket?.end(`${head}{"jsonrpc":"2.0","id":${id},"result":"abc`)
}

/** Holds the answer at a gate. */
export function held(gate: Gate, then: Handler): Handler {
  return async (request, response) => {
    await gate.pass()
    await then(request, response)
  }
}

/** Streams a long result: a JSON string that is made of `block`, `times` times; calls `onSent` after each block. */
export function stream(block: Buffer, times: number, onSent?: (bytes: number) => void): Handler {
  return async ({ id }, response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.write(`{"jsonrpc":"2.0","id":${id},"result":"`)
    for (let i = 0; i < times && !response.destroyed; i++) {
      const free = response.write(block)
      onSent?.(block.length)
      if (!free) await drained(response)
    }
    response.end('"}')
  }
}

async function drained(response: ServerResponse): Promise<void> {
  const listening = new AbortController()
  const { signal } = listening
  await Promise.race([once(response, 'drain', { signal }), once(response, 'close', { signal })])
  listening.abort()
}
