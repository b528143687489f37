/** A request to a path of a verbatim HTTP network: path → verb → key → body size → pipeline. */
import type { Gateway } from '../../call/gateway.ts'
import { isNormalPath, isPlainQuery, VERBS } from '../../net/http-path.ts'
import { isRefusal, refuse } from '../../refusal/refusal.ts'
import type { Refusal } from '../../refusal/refusal.ts'
import type { Visitor } from '../../call/caller.ts'
import { findRow } from '../../call/decide.ts'
import type { Network } from '../../snapshot/types.ts'
import type { ClientStreams } from './client-streams.ts'
import { corsHeaders, exposed } from '../replies/reply.ts'
import { sendContinue } from '../body.ts'
import type { RpcOptions } from '../rpc.ts'
import { answerPreflight, refuseEarly } from '../visit.ts'
import type { RpcTarget, Visit } from '../visit.ts'
import { ResponseSink } from './sink.ts'

/** Reply headers that pages may read. */
const PROXIED = exposed([
  'ETag',
  'Eth-Consensus-Version',
  'Eth-Consensus-Block-Value',
  'Eth-Execution-Payload-Blinded',
  'Eth-Execution-Payload-Value',
])

/** Verbs whose requests have a body. */
const WITH_BODY: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH'])

/** What is needed besides the gateway. */
export interface VerbatimOptions {
  readonly gateway: Gateway
  readonly address: RpcOptions['address']
  readonly trace: RpcOptions['trace']
  readonly streams: ClientStreams
}

/** Handles one request whose host and key prefix have been found. */
export async function handleVerbatim(
  { request, response, requestId }: Visit,
  target: RpcTarget,
  { gateway, address, trace, streams }: VerbatimOptions,
): Promise<void> {
  const { network, key, path, query } = target
  const { origin } = request.headers
  const {
    cors: { origins },
    limits,
  } = gateway.snapshot.gateway
  const visit: Visit = { request, response, requestId, cors: corsHeaders(origins, origin, PROXIED) }
  const verb = request.method ?? ''
  if (!isNormalPath(path) || !isPlainQuery(query.slice(1))) {
    refuseEarly(visit, refuse('invalid_request', NOT_NORMAL), 'path', gateway)
    return
  }
  if (verb === 'OPTIONS') {
    answerPreflight(visit, verbsOf(network, path))
    return
  }
  const verbs = isServed(network, verb, path) ? [] : verbsOf(network, path)
  if (verbs.length > 0) {
    const refusal = refuse('method_not_allowed', `This path is called with ${verbs.join(', ')}`)
    refuseEarly(visit, refusal, 'path', gateway, undefined, verbs)
    return
  }
  const visitor: Visitor = {
    network,
    key,
    origin,
    transport: 'http',
    session: null,
    ...address(request),
    trace: trace(request),
  }
  const { epoch } = gateway
  let checkedAt = epoch
  const caller = await gateway.admit(visitor)
  const refusal = isRefusal(caller) ? caller : checkBody(visit, limits.body)
  if (isRefusal(caller) || refusal !== null) {
    refuseEarly(visit, refusal ?? refuse('internal'), 'path', gateway)
    return
  }
  const method = `${verb} ${path}`
  // Keys, accounts, plans and the configuration may change while the body arrives.
  const denied = (): Refusal | null => {
    if (gateway.epoch === checkedAt) return null
    checkedAt = gateway.epoch
    const now = gateway.renewedFor(visitor, method)
    return isRefusal(now) ? now : null
  }
  const bodyLimit = hasBody(visit) ? limits.body : null
  const sink = new ResponseSink(
    { request, response, verb, target: path + query, bodyLimit, refusal: denied },
    () => ({ requestId, cors: visit.cors, rate: gateway.rate(caller) }),
    (route, stop) => streams.take({ visitor, caller, epoch, method, route, stop }),
  )
  sendContinue(request)
  await gateway.pass(method, caller, sink, requestId)
}

const NOT_NORMAL =
  'The path is not in its normal form: no escapes, empty or dot segments, and a query of printable ASCII'

/** The verbs that rules name for a path. */
function verbsOf(network: Network, path: string): string[] {
  return VERBS.filter(verb => isServed(network, verb, path))
}

function isServed(network: Network, verb: string, path: string): boolean {
  return !isRefusal(findRow(network, `${verb} ${path}`, 'http'))
}

function hasBody({ request: { headers } }: Visit): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

function checkBody(visit: Visit, limit: number): Refusal | null {
  const { request } = visit
  if (hasBody(visit) && !WITH_BODY.has(request.method ?? ''))
    return refuse('invalid_request', `A ${request.method ?? ''} request has no body`)
  if (Number(request.headers['content-length'] ?? 0) > limit)
    return refuse('body_too_large', `The request body is larger than ${limit} bytes`, { limit })
  return null
}
