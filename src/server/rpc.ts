/** The public listener's request: host → path → verb → key → media type → body → pipeline. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Gateway } from '../gateway.ts'
import { isRefusal } from '../jsonrpc/is-refusal.ts'
import { encodeRefusal, refuse, statusOf } from '../jsonrpc/refusal.ts'
import type { CodeColumn, Refusal } from '../jsonrpc/refusal.ts'
import { columnOf } from '../pipeline/caller.ts'
import type { Caller } from '../pipeline/caller.ts'
import type { ClientAddress } from './address.ts'
import type { Dashboard } from './dashboard/dashboard.ts'
import { isJson, readBody } from './body.ts'
import { corsHeaders, preflightHeaders } from './cors.ts'
import { HttpSink } from './http-sink.ts'
import { isEnding, isShort, linger } from './linger.ts'
import { headersOf, retryAfterHeaders, sendWhole } from './reply.ts'
import { nextRequestId } from './request-id.ts'
import { findTarget } from './target.ts'
import type { Target } from './target.ts'

/** What the listener knows besides the gateway. */
export interface RpcOptions {
  readonly gateway: Gateway
  readonly dashboard: Dashboard
  readonly address: (request: IncomingMessage) => ClientAddress
}

/** One request on its way through the listener. */
export interface Visit {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly requestId: string
  readonly cors: readonly string[]
}

/** Handles one request of the public listener. */
export async function handleRequest(
  request: IncomingMessage,
  response: ServerResponse,
  { gateway, dashboard, address }: RpcOptions,
): Promise<void> {
  if (isEnding(request)) return
  const { origin } = request.headers
  const cors = corsHeaders(gateway.snapshot.gateway.cors.origins, origin)
  const visit: Visit = { request, response, requestId: nextRequestId(), cors }
  const asked = readTarget(request, gateway)
  const page = !isRefusal(asked) && asked.kind === 'page' ? dashboard(asked.path) : null
  if (page !== null) {
    const { requestId } = visit
    await page({ request, response, requestId, refused: reason => gateway.live.observer.refused(reason) })
    return
  }
  const target = rpcOnly(asked)
  if (isRefusal(target)) {
    refuseEarly(visit, target, 'evm', gateway)
    return
  }
  const column = columnOf(target.network)
  if (request.method === 'OPTIONS') {
    answerPreflight(visit)
    return
  }
  if (request.method !== 'POST') {
    refuseEarly(visit, refuse('method_not_allowed'), column, gateway)
    return
  }
  const { key, network } = target
  const caller = gateway.admit({
    network,
    key,
    origin,
    transport: 'http',
    session: null,
    ...address(request),
  })
  const refusal = isRefusal(caller) ? caller : checkMedia(request)
  if (isRefusal(caller) || refusal !== null) {
    refuseEarly(visit, refusal ?? refuse('internal'), column, gateway)
    return
  }
  await handleBody(visit, caller, gateway)
}

/** What is asked for, or the first check that fails. */
export function readTarget(request: IncomingMessage, gateway: Gateway): Target | Refusal {
  const hosts = request.rawHeaders.filter(
    (name, i) => i % 2 === 0 && name.length === 4 && name.toLowerCase() === 'host',
  )
  if (hosts.length !== 1) return refuse('invalid_request', 'Send exactly one Host header')
  return findTarget(request.headers.host ?? '', request.url ?? '', gateway.snapshot)
}

/** Where a call goes; anything else is not found. */
export function rpcOnly(asked: Target | Refusal): (Target & { kind: 'rpc' }) | Refusal {
  return isRefusal(asked) || asked.kind === 'rpc' ? asked : refuse('not_found')
}

function checkMedia(request: IncomingMessage): Refusal | null {
  const { 'content-type': type, 'content-encoding': encoding } = request.headers
  return isJson(type) && encoding === undefined ? null : refuse('unsupported_media_type')
}

async function handleBody(visit: Visit, caller: Caller, gateway: Gateway): Promise<void> {
  const { request, response, requestId, cors } = visit
  const { body: limit } = gateway.snapshot.gateway.limits
  const body = await readBody(request, limit)
  if (body === 'gone') return
  if (body === 'too_large') {
    const sentence = `The request body is larger than ${limit} bytes`
    refuseEarly(visit, refuse('body_too_large', sentence, { limit }), columnOf(caller.network), gateway)
    return
  }
  const sink = new HttpSink(response, () => ({ requestId, cors, rate: gateway.rate(caller) }))
  await gateway.handle(body, caller, sink, requestId)
}

function answerPreflight({ request, response, requestId, cors }: Visit): void {
  const headers = headersOf({ requestId, cors, rate: null }).slice(2)
  headers.push(...preflightHeaders(request.headers['access-control-request-headers']))
  response.writeHead(204, headers)
  response.end()
}

/** Refuses before the body was read (`status` replaces the table's); the rest of it decides whether the connection can be kept. */
export function refuseEarly(
  visit: Visit,
  refusal: Refusal,
  column: CodeColumn,
  gateway: Gateway,
  status = statusOf(refusal, column),
): void {
  const { request, response, requestId, cors } = visit
  gateway.live.observer.refused(refusal.reason)
  const headers = headersOf({ requestId, cors, rate: null })
  headers.push(...retryAfterHeaders(refusal, Date.now()))
  if (refusal.reason === 'method_not_allowed') headers.push('Allow', 'POST, OPTIONS')
  const keep = isShort(request)
  if (!keep) headers.push('Connection', 'close')
  sendWhole(response, status, headers, encodeRefusal(refusal, 'null', column, requestId))
  if (!keep) linger(request, response)
}
