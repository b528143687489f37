/** The public listener's request: host → path → verb → key → media type → body → pipeline. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ByteBudget } from '../limits/byte-budget.ts'
import { Hold } from '../limits/byte-budget.ts'
import type { Gateway } from '../call/gateway.ts'
import { isRefusal, refuse, statusOf } from '../refusal/refusal.ts'
import type { Refusal } from '../refusal/refusal.ts'
import { columnOf, holderOf } from '../call/caller.ts'
import type { Visitor, Caller } from '../call/caller.ts'
import type { MaybePromise } from '../ports/maybe-promise.ts'
import type { ClientTrace } from '../ports/tracing.ts'
import type { ClientAddress } from './connection.ts'
import type { Dashboard } from './dashboard/dashboard.ts'
import { collectBody, isJson, isEnding } from './body.ts'
import { HttpSink } from './replies/reply.ts'
import type { FairTurns } from './fair-turns.ts'
import { headFault } from './request-head.ts'
import {
  answerPreflight,
  callsOnly,
  freshnessOf,
  readAsked,
  readTarget,
  refuseEarly,
  refuseFault,
  visitOf,
} from './visit.ts'
import type { RpcTarget, Visit } from './visit.ts'

/** What the listener knows besides the gateway. */
export interface RpcOptions {
  readonly gateway: Gateway
  readonly dashboard: Dashboard
  readonly address: (request: IncomingMessage) => ClientAddress
  readonly trace: (request: IncomingMessage) => ClientTrace | undefined
  /** Handles a request to a path of a verbatim HTTP network. */
  readonly verbatim: (visit: Visit, target: RpcTarget) => Promise<void>
  readonly memory: ByteBudget
  readonly turns: FairTurns
}

/** Handles one request of the public listener. */
export function handleRequest(
  request: IncomingMessage,
  response: ServerResponse,
  options: RpcOptions,
): MaybePromise<void> {
  if (isEnding(request)) return
  const { gateway, dashboard, address, trace, verbatim, memory } = options
  const visit = visitOf(request, response, gateway)
  const fault = headFault(request)
  if (fault !== null) {
    refuseFault(visit, fault, gateway)
    return
  }
  const asked = readAsked(request, gateway)
  const page = asked.kind === 'page' ? dashboard(asked.path) : null
  if (page !== null) {
    const { requestId } = visit
    const holder = holderOf({ payer: null, address: address(request).limitAddress })
    return page({
      request,
      response,
      requestId,
      memory,
      holder,
      refused: reason => {
        const refusal = refuse(reason)
        gateway.refusedEarly({ refusal, status: statusOf(refusal), requestId, asked: null })
      },
    })
  }
  const target = callsOnly(asked)
  if (isRefusal(target)) {
    refuseEarly(visit, target, 'evm', gateway)
    return
  }
  if (target.path !== '') return verbatim(visit, target)
  if (request.method === 'OPTIONS') {
    answerPreflight(visit, ['POST'])
    return
  }
  const column = columnOf(target.network)
  if (request.method !== 'POST') {
    refuseEarly(visit, refuse('method_not_allowed'), column, gateway)
    return
  }
  const from = address(request)
  const caller = gateway.admit(visitorOf(request, target, from, trace(request)))
  if (caller instanceof Promise)
    return caller.then(refusal => {
      refuseEarly(visit, refusal, column, gateway)
    })
  const refusal = isRefusal(caller) ? caller : (checkMedia(request) ?? checkRoom(caller, gateway))
  if (isRefusal(caller) || refusal !== null) {
    refuseEarly(visit, refusal ?? refuse('internal'), column, gateway)
    return
  }
  serveBody(visit, from, caller, options)
}

/** Reads the body and hands it to the pipeline. */
function serveBody(visit: Visit, from: ClientAddress, caller: Caller, options: RpcOptions): void {
  const { gateway, memory, turns, trace } = options
  const { snapshot, epoch } = gateway
  const hold = new Hold(memory.of(holderOf(caller)))
  const serveNow = (body: Buffer | 'too_large' | 'no_room'): void => {
    // Keys, accounts and the configuration may have changed while the body arrived.
    const now = gateway.epoch === epoch ? caller : readmit(visit.request, from, gateway, trace(visit.request))
    if (isRefusal(now)) {
      hold.release()
      refuseEarly(visit, now, columnOf(caller.network), gateway)
    } else handleBody(visit, body, hold, now, options)
  }
  collectBody(visit.request, snapshot.gateway.limits.body, hold, body => {
    // A whole body is held until its reply has been sent; of any other nothing is kept.
    if (typeof body === 'string') hold.release()
    if (body === 'gone') return
    const serve = (): void => {
      // Nobody would read the answer of a client that left before its turn.
      if (visit.request.socket.destroyed) hold.release()
      else guarded(visit.response, gateway, () => serveNow(body))
    }
    turns.begin(visit.request.socket, holderOf(caller), typeof body === 'string' ? 0 : body.length, serve)
  })
}

/** What throws in `work` is a bug of ours: it ends this connection, and nothing else. */
export function guarded(response: ServerResponse, gateway: Gateway, work: () => MaybePromise<void>): void {
  try {
    const over = work()
    if (over instanceof Promise)
      over.catch((error: unknown) => {
        endByBug(error, response, gateway)
      })
  } catch (error) {
    endByBug(error, response, gateway)
  }
}

function endByBug(error: unknown, response: ServerResponse, gateway: Gateway): void {
  gateway.live.observer.bug(error, 'listener')
  response.destroy()
}

function checkMedia(request: IncomingMessage): Refusal | null {
  const { 'content-type': type, 'content-encoding': encoding } = request.headers
  return isJson(type) && encoding === undefined ? null : refuse('unsupported_media_type')
}

function checkRoom(caller: Caller, gateway: Gateway): Refusal | null {
  return gateway.hasRoomFor(caller) ? null : refuse('overloaded')
}

function visitorOf(
  request: IncomingMessage,
  { network, key }: RpcTarget,
  { address, limitAddress }: ClientAddress,
  trace?: ClientTrace,
): Visitor {
  const { origin } = request.headers
  const freshness = network.cache === null ? undefined : freshnessOf(request.headers)
  // prettier-ignore
  return { network, key, address, limitAddress, origin, transport: 'http', session: null, freshness, trace }
}

/** The caller of a request as it would be let in now. */
export function readmit(
  request: IncomingMessage,
  from: ClientAddress,
  gateway: Gateway,
  trace?: ClientTrace,
): Caller | Refusal {
  const target = readTarget(request, gateway)
  return isRefusal(target) ? target : gateway.readmit(visitorOf(request, target, from, trace))
}

function handleBody(
  visit: Visit,
  body: Buffer | 'too_large' | 'no_room',
  hold: Hold,
  caller: Caller,
  { gateway, turns }: RpcOptions,
): void {
  const { response, requestId, cors } = visit
  if (body === 'no_room') {
    refuseEarly(visit, refuse('overloaded'), columnOf(caller.network), gateway)
    return
  }
  if (body === 'too_large') {
    const { body: limit } = gateway.snapshot.gateway.limits
    const sentence = `The request body is larger than ${limit} bytes`
    refuseEarly(visit, refuse('body_too_large', sentence, { limit }), columnOf(caller.network), gateway)
    return
  }
  const sink = new HttpSink(
    response,
    () => ({ requestId, cors, rate: gateway.rate(caller) }),
    hold,
    turns,
    holderOf(caller),
  )
  // What fails in there is told and cut there.
  void gateway.handle(body, caller, sink, requestId)
}
