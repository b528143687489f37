/** The admin listener: health, metrics and questions of the operator. Loopback by default; serves no keys. */
import { createServer } from 'node:http'
import { connectionsOf } from '../connection.ts'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { adminRefusal } from './access.ts'
import type { AdminNames, AdminRefusal } from './access.ts'
import { readBody } from '../body.ts'
import { probesRefusal } from './probes-access.ts'

/** What an admin path answers: a status and a JSON value, or text of some type. */
export type AdminReply =
  | { readonly status: number; readonly json: unknown }
  | { readonly status: number; readonly text: string | Buffer; readonly type: string }

/** One admin path. */
export type AdminHandler = (body: unknown) => AdminReply | Promise<AdminReply>

/** `METHOD /path` to what answers it. */
export type AdminRoutes = Readonly<Record<string, AdminHandler>>

const MAX_BODY = 1024 * 1024

/** Open connections; more are closed unanswered. */
const MAX_CONNECTIONS = 256

/** Bounds of a connection: times in milliseconds, sizes in bytes. */
const OPTIONS = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 5_000,
  // Node looks at the first two only every so often.
  connectionsCheckingInterval: 2_000,
  maxHeaderSize: 16 * 1024,
  requireHostHeader: false,
}

/** Milliseconds without a byte moving: a reply that nobody reads holds its connection no longer. */
const SILENCE = 120_000

/** Makes the server; it is not bound yet. `names` is asked at each request, since a reload may change what is listed. */
export function makeAdminListener(
  routes: AdminRoutes,
  names: () => AdminNames,
  bug: (error: unknown) => void,
): Server {
  return makeListener(routes, request => adminRefusal(request, names()), bug)
}

/** Makes the server that answers probes and scrapes alone, whatever name it is asked by; it is not bound yet. */
export function makeProbesListener(routes: AdminRoutes, bug: (error: unknown) => void): Server {
  return makeListener(routes, probesRefusal, bug)
}

function makeListener(
  routes: AdminRoutes,
  refusalOf: (request: IncomingMessage) => AdminRefusal | null,
  bug: (error: unknown) => void,
): Server {
  const server = createServer(OPTIONS)
  server.maxConnections = MAX_CONNECTIONS
  server.timeout = SILENCE
  const asked = connectionsOf(server)
  server.on('request', (request, response) => {
    asked.enter(request, response, () => {
      const refusal = refusalOf(request)
      if (refusal !== null) {
        // Nothing behind a request that is not read is read either.
        response.shouldKeepAlive = false
        send(response, { status: refusal.status, json: { error: refusal.error } })
        return
      }
      void answer(request, routes)
        .catch((error: unknown) => {
          bug(error)
          return { status: 500, json: { error: 'internal error' } }
        })
        .then(reply => {
          if (reply.status === 413) response.shouldKeepAlive = false
          send(response, reply)
        })
    })
  })
  return server
}

async function answer(request: IncomingMessage, routes: AdminRoutes): Promise<AdminReply> {
  const path = (request.url ?? '').split('?', 1)[0] ?? ''
  const handler = routes[`${request.method === 'HEAD' ? 'GET' : (request.method ?? '')} ${path}`]
  if (handler === undefined) {
    const known = Object.keys(routes).some(route => route.endsWith(` ${path}`))
    return { status: known ? 405 : 404, json: { error: known ? 'method not allowed' : 'not found' } }
  }
  const body = await readBody(request, MAX_BODY)
  if (typeof body === 'string') return { status: 413, json: { error: 'the body is too large' } }
  const parsed = parse(body)
  return parsed === undefined
    ? { status: 400, json: { error: 'the body is not valid JSON' } }
    : handler(parsed)
}

/** Null for an empty body, undefined for a broken one. */
function parse(body: Buffer): unknown {
  if (body.length === 0) return null
  try {
    return JSON.parse(body.toString('utf8')) as unknown
  } catch {
    return undefined
  }
}

function send(response: ServerResponse, reply: AdminReply): void {
  const [type, text] =
    'json' in reply ? ['application/json', `${JSON.stringify(reply.json)}\n`] : [reply.type, reply.text]
  response.writeHead(reply.status, { 'content-type': type, 'cache-control': 'no-store' })
  response.end(text)
}
