/** Lets an admitted request through to an upstream, to the next able route while that is harmless. */
import { refuse } from '../../refusal/refusal.ts'
import type { Rule } from '../../snapshot/types.ts'
import type { ProxiedRequest, ReplyHead } from '../../routes/transport/proxy/proxied-request.ts'
import type { Failure } from '../../routes/transport/verdict.ts'
import { refused } from '../reply/answer.ts'
import type { VerbatimAnswer, WholeAnswer } from '../reply/answer.ts'
import { observeEnd, traceparentFor } from '../node/attempt.ts'
import { lastRefusal, routeOf, tryInTurn } from '../node/attempts.ts'
import type { Tried, Trail, Try } from '../node/attempts.ts'
import type { Caller } from '../caller.ts'
import type { Context } from '../context.ts'
import type { Decided } from '../decide.ts'
import { holderOf } from '../caller.ts'
import { TIMEOUTS } from '../node/request.ts'

/** The reply of the first route that gives one, or why there is none. */
export async function forwardVerbatim(
  { row, routes }: Decided,
  trail: Trail,
  proxied: ProxiedRequest,
  caller: Caller,
  context: Context,
): Promise<VerbatimAnswer | WholeAnswer> {
  const { network } = caller
  // RFC 9110, section 9.2.1: asking twice changes nothing. What has a body was poured out at the first try.
  const repeatable = proxied.verb === 'GET' || proxied.verb === 'HEAD'
  const need = { tip: true, atLeast: null, mayProbe: repeatable }
  const wanted = { network, row, routes, need, method: row.rule.match, caller: holderOf(caller), until: null }
  // A response that we finished ourselves was cut short by a drain: then the call is refused, not abandoned.
  const { response } = proxied
  const isGone = (): boolean => response.destroyed && !response.writableFinished
  const bounds = { repeat: repeatable ? ('safe' as const) : ('never' as const), isGone }
  const ended = await tryInTurn<ReplyHead, Tried<ReplyHead>>(wanted, bounds, context, each =>
    tryRoute(each, row.rule, proxied, caller, context, trail.trace),
  )
  trail.route = routeOf(ended)
  switch (ended.kind) {
    case 'answered':
      return answerOf(ended.verdict, ended.tried.candidate.route.id, proxied.verb, context)
    case 'full':
      return refused(refuse('overloaded', 'Every route is at its limit'))
    case 'abandoned':
      return { kind: 'abandoned' }
    case 'failed':
      return refused(lastRefusal(ended.failures, context))
  }
}

async function tryRoute(
  { picked, left, kind }: Try,
  rule: Rule,
  proxied: ProxiedRequest,
  client: Caller,
  context: Context,
  trace: Trail['trace'],
): Promise<Tried<ReplyHead>> {
  const { requestId, payer } = context
  const { observer, upstreams, clock } = context.live
  const { route, live } = picked
  const { match: method } = rule
  const caller = holderOf(client)
  const begin = clock.monotonic()
  const record = trace === null ? null : trace.attempt(route.id, kind)
  const traceparent = traceparentFor(route, record, context, client)
  const timeout = Math.min(left, route.timeout ?? TIMEOUTS[rule.timeout].attempt)
  const options = { timeout, heavy: rule.timeout === 'heavy', caller, traceparent }
  const verdict: ReplyHead | Failure = await live.pass(proxied, options, clock.monotonic)
  const now = clock.monotonic()
  const ms = now - begin
  const observe = (result: string): void => {
    const [account, endpoint] = [payer?.account.id ?? null, payer?.endpoint.id ?? null]
    const network = client.network.slug
    observer.attempt({ requestId, account, endpoint, network, method, route: route.id, result, ms })
    record?.ended(result)
  }
  if (verdict.kind === 'head') observeEnd(verdict.body, verdict.status < 400 ? 'ok' : 'error', observe)
  else observe(verdict.why)
  upstreams.unsupported.take(verdict, { route, live, method, rule, caller }, now)
  return { verdict, candidate: picked }
}

function answerOf(
  { status, reply, body, headers, endless }: ReplyHead,
  route: string,
  verb: string,
  { snapshot }: Context,
): VerbatimAnswer | WholeAnswer {
  const most = snapshot.gateway.limits.response
  if (most !== null && !endless && verb !== 'HEAD' && Number(reply.headers['content-length'] ?? 0) > most) {
    body.destroy()
    return refused(refuse('response_too_large', undefined, { limit: most }))
  }
  const isFramed =
    reply.headers['content-length'] !== undefined || reply.headers['transfer-encoding'] !== undefined
  return { kind: 'verbatim', status, headers, endless, isFramed, body, route }
}
