/** The admin listener: health, metrics and questions of the operator. Loopback by default; serves no keys. */
import { createServer } from 'node:http'
import { pipeline, Readable } from 'node:stream'
import { connectionsOf } from '../connection.ts'
import type { IncomingHttpHeaders, IncomingMessage, Server, ServerResponse } from 'node:http'
import { adminRefusal } from './access.ts'
import type { AdminNames, AdminRefusal } from './access.ts'
import { readBody } from '../body.ts'
import { parseStrictly } from './strict-json.ts'
import { probesRefusal } from './probes-access.ts'

/** What an admin path answers: a status and a JSON value, or text of some type. */
export type AdminReply =
  | {
      readonly status: number
      readonly json: unknown
      /** Default: application/json. */
      readonly type?: string
      readonly headers?: Readonly<Record<string, string>>
    }
  | { readonly status: number; readonly text: string | Buffer; readonly type: string }
  /** What comes piece by piece; it is not read on once its reader has left. */
  | { readonly status: number; readonly lines: AsyncIterable<string>; readonly type: string }

/** One admin path. */
export type AdminHandler = (body: unknown) => AdminReply | Promise<AdminReply>

/** A request to the admin API. */
export interface ApiRequest {
  readonly method: string
  readonly path: string
  /** Behind the `?`. */
  readonly query: string
  readonly headers: IncomingHttpHeaders
  /** JSON; null where there is no body, undefined where it is not JSON. */
  readonly body: unknown
}

/** The admin API. */
export interface Api {
  /** Null where the path is not one of its own. */
  readonly answer: (request: ApiRequest) => Promise<AdminReply> | null
  /** What it says where the listener refuses a request to it; null where the path is not one of its own. */
  readonly refused: (path: string, refusal: AdminRefusal) => AdminReply | null
}

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
  api: Api,
  names: () => AdminNames,
  bug: (error: unknown) => void,
): Server {
  return makeListener({ routes, api, refusalOf: request => adminRefusal(request, names()), bug })
}

/** Makes the server that answers probes and scrapes alone, whatever name it is asked by; it is not bound yet. */
export function makeProbesListener(routes: AdminRoutes, bug: (error: unknown) => void): Server {
  return makeListener({ routes, api: NO_API, refusalOf: probesRefusal, bug })
}

const NO_API: Api = { answer: () => null, refused: () => null }

interface ListenerParts {
  readonly routes: AdminRoutes
  readonly api: Api
  readonly refusalOf: (request: IncomingMessage) => AdminRefusal | null
  readonly bug: (error: unknown) => void
}

function makeListener({ routes, api, refusalOf, bug }: ListenerParts): Server {
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
        send(response, refused(pathOf(request), refusal, api))
        return
      }
      void answer(request, routes, api)
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

async function answer(request: IncomingMessage, routes: AdminRoutes, api: Api): Promise<AdminReply> {
  const path = pathOf(request)
  const query = (request.url ?? '').slice(path.length + 1)
  const method = request.method === 'HEAD' ? 'GET' : (request.method ?? '')
  const handler = routes[`${method} ${path}`]
  const known = Object.keys(routes).some(route => route.endsWith(` ${path}`))
  if (handler === undefined && known) return { status: 405, json: { error: 'method not allowed' } }
  const body = await readBody(request, MAX_BODY, null)
  if (typeof body === 'string') return refused(path, { status: 413, error: 'the body is too large' }, api)
  const parsed = parseStrictly(body)
  if (handler === undefined) {
    const { headers } = request
    const answered = api.answer({ method, path, query, headers, body: parsed })
    return answered ?? { status: 404, json: { error: 'not found' } }
  }
  return parsed === undefined
    ? { status: 400, json: { error: 'the body is not valid JSON' } }
    : handler(parsed)
}

/** What stands before the `?`. */
function pathOf({ url = '' }: IncomingMessage): string {
  return url.split('?', 1)[0] ?? ''
}

function refused(path: string, refusal: AdminRefusal, api: Api): AdminReply {
  return api.refused(path, refusal) ?? { status: refusal.status, json: { error: refusal.error } }
}

function send(response: ServerResponse, reply: AdminReply): void {
  const isJson = 'json' in reply
  const type = isJson ? (reply.type ?? 'application/json') : reply.type
  const more = isJson ? reply.headers : undefined
  response.writeHead(reply.status, {
    ...(type === '' ? {} : { 'content-type': type }),
    'cache-control': 'no-store',
    ...more,
  })
  if ('lines' in reply) {
    pipeline(Readable.from(reply.lines), response, () => undefined)
    return
  }
  response.end(isJson ? `${JSON.stringify(reply.json)}\n` : reply.text)
}
