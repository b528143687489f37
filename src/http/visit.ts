/** A request of the public listener: what it asks for, and how it is refused before its body is read. */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import type { Freshness } from '../call/caller.ts'
import type { Gateway } from '../call/gateway.ts'
import { isRefusal, refuse, statusOf } from '../refusal/refusal.ts'
import { encodeRefusal } from '../jsonrpc/raw.ts'
import type { CodeColumn, Refusal } from '../refusal/refusal.ts'
import { addressReader } from './address.ts'
import { endAfter, isShort, leaveRest } from './body.ts'
import {
  CACHE_HEADER,
  corsHeaders,
  exposed,
  EXPOSED,
  preflightHeaders,
  headersOf,
  retryAfterHeaders,
  sendWhole,
  nextRequestId,
} from './replies/reply.ts'
import { askedFor, findTarget } from './request-head.ts'
import type { HeadFault, Target } from './request-head.ts'

/** A target that calls are sent to. */
export type RpcTarget = Target & { readonly kind: 'rpc' }

/** One request on its way through the listener. */
export interface Visit {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly requestId: string
  readonly cors: readonly string[]
}

/** What is made of a request before anything is asked about it. */
export function visitOf(request: IncomingMessage, response: ServerResponse, gateway: Gateway): Visit {
  const { cors: pages, cache } = gateway.snapshot.gateway
  const cors = corsHeaders(
    pages.origins,
    request.headers.origin,
    cache?.header === true ? WITH_CACHE : EXPOSED,
  )
  return { request, response, requestId: nextRequestId(), cors }
}

/** What pages may read where answers are kept. */
const WITH_CACHE = exposed([CACHE_HEADER])

/** What a client says of kept answers. */
export function freshnessOf({ 'cache-control': said }: IncomingHttpHeaders): Freshness | undefined {
  if (said === undefined) return undefined
  const words = said.toLowerCase().split(/[\s,]+/)
  return WORDS.find(word => words.includes(word))
}

/** The one that says more first. */
const WORDS: readonly Freshness[] = ['no-store', 'no-cache']

/** What is asked for, or the first check that fails. */
export function readTarget(request: IncomingMessage, gateway: Gateway): RpcTarget | Refusal {
  return callsOnly(readAsked(request, gateway))
}

/** The same, pages included. */
export function readAsked(request: IncomingMessage, gateway: Gateway): Target {
  const { host, url } = askedFor(request.headers.host ?? '', request.url ?? '')
  return findTarget(host, url, gateway.snapshot, request.socket)
}

/** A page is nothing that calls are sent to. */
export function callsOnly(target: Target): RpcTarget | Refusal {
  return target.kind === 'rpc' ? target : refuse('not_found')
}

/** Refuses a request that cannot be read for certain; nothing after it on the connection is read. */
export function refuseFault(visit: Visit, { refusal, status }: HeadFault, gateway: Gateway): void {
  endAfter(visit.request)
  refuseEarly(visit, refusal, 'evm', gateway, status)
}

/** Answers OPTIONS: costs nothing, asks for no key. */
export function answerPreflight(
  { request, response, requestId, cors }: Visit,
  verbs: readonly string[],
): void {
  const allowed = preflightHeaders(request.headers['access-control-request-headers'], verbs)
  response.writeHead(204, [...headersOf({ requestId, cors, rate: null }).slice(2), ...allowed])
  response.end()
}

/** The client's address for the access log: read only if that has addresses. */
function loggedAddress(request: IncomingMessage, { snapshot: { gateway } }: Gateway): string | null {
  if ((gateway.log.access?.address ?? 'none') === 'none') return null
  return addressReader(gateway.trustedProxies)(request).address
}

/** Refuses before the body was read (`status` replaces the table's); the rest of it decides whether the connection can be kept. */
export function refuseEarly(
  visit: Visit,
  refusal: Refusal,
  column: CodeColumn,
  gateway: Gateway,
  status = statusOf(refusal, column),
  verbs: readonly string[] = ['POST'],
): void {
  const { request, response, requestId, cors } = visit
  const target = readTarget(request, gateway)
  const asked = isRefusal(target) ? null : { network: target.network.slug, key: target.key }
  gateway.refusedEarly({ refusal, status, requestId, asked, address: loggedAddress(request, gateway) })
  const headers = headersOf({ requestId, cors, rate: null })
  headers.push(...retryAfterHeaders(refusal))
  if (refusal.reason === 'method_not_allowed') headers.push('Allow', [...verbs, 'OPTIONS'].join(', '))
  if (!isShort(request)) response.shouldKeepAlive = false
  sendWhole(response, status, headers, encodeRefusal(refusal, 'null', column, requestId))
  leaveRest(request, response)
}
