/** One try at one route, and what its reply means for this call. */
import { randomFillSync } from 'node:crypto'
import { refuse } from '../../refusal/refusal.ts'
import type { Reply } from '../../jsonrpc/message.ts'
import type { Departure } from '../../net/departure.ts'
import { LONG, LongText } from '../../jsonrpc/long-text.ts'
import type { Raw } from '../../jsonrpc/raw.ts'
import type { AttemptKind, AttemptRecord, TracedCaller } from '../../ports/tracing.ts'
import type { Candidate } from '../../routes/pick.ts'
import type { StreamedBody } from '../../routes/transport/streamed-body.ts'
import type { Failure, Verdict } from '../../routes/transport/verdict.ts'
import type { Context } from '../context.ts'
import type { ReplyMode, Request } from './request.ts'
import { familyOf } from '../../families/families.ts'
import { isAboutAnother, isComparable } from './identity.ts'
import { mayGather, TIMEOUTS } from './request.ts'
import { elementsOf, memberOf } from '../../jsonrpc/elements.ts'
import type { Route, Rule } from '../../snapshot/types.ts'
import type { Heads } from '../../routes/heads.ts'

/** Bytes of a reply held back until status, id and error are known. */
export const HOLD_BACK = 256 * 1024
/** Milliseconds for the question whether a transaction is there. */
const LOOKUP_TIMEOUT = 5_000

/** The bounds of one try. */
export interface AttemptOptions {
  /** Milliseconds left of the call's deadline. */
  readonly left: number
  readonly mode: ReplyMode
  /** Whether an earlier try may have reached a node. */
  readonly sentBefore: boolean
  /** Ends the try early; null where nobody may. */
  readonly departure: Departure | null
  readonly kind: AttemptKind
  /** Whether another try at the same time has answered; absent where there is none. */
  readonly isLate?: () => boolean
}

/** How one try ended. */
export interface Round {
  readonly verdict: Verdict
  readonly candidate: Candidate
}

/** Ids of one draw: asking the system for bytes costs more than an id. */
const ids = new Uint32Array(512)
let drawn = ids.length

/**
 * A small integer: nodes differ in which client ids they take (hazards, "Upstream side"). Nobody knows the next one, or a late reply that carries
 * it would be taken for the answer to somebody else's call.
 */
function nextId(): number {
  if (drawn === ids.length) {
    randomFillSync(ids)
    drawn = 0
  }
  drawn += 1
  return (ids[drawn - 1]! % 999_999) + 1
}

/** Sends the call to the candidate; the verdict is about this call, on this route. */
export function attempt(
  candidate: Candidate,
  request: Request,
  { left, mode, sentBefore, departure, kind, isLate }: AttemptOptions,
  context: Context,
): Promise<Round> {
  const { requestId, payer } = context
  const { observer, heads, upstreams, clock, flights } = context.live
  const { route, live } = candidate
  const { network, row, method, params, caller, departure: whose, flight, trace } = request
  const { rule } = row
  const id = nextId()
  const begin = clock.monotonic()
  const record = trace === null ? null : trace.attempt(route.id, kind)
  const before = `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":`
  const body =
    params.length > LONG
      ? new LongText([{ raw: before }, { raw: params }, { raw: '}' }])
      : `${before}${params}}`
  const timeout = Math.min(left, route.timeout ?? TIMEOUTS[rule.timeout].attempt)
  const limits = {
    timeout,
    holdBack: mode.stream ? HOLD_BACK : Infinity,
    maxBytes: mode.maxBytes,
    departure,
    holder: mode.holder,
  }
  const conclude = (verdict: Verdict): Round => {
    const now = clock.monotonic()
    const ms = now - begin
    const observe = (result: string): void => {
      // One literal, like that of a call.
      observer.attempt({
        requestId,
        account: payer === null ? null : payer.account.id,
        endpoint: payer === null ? null : payer.endpoint.id,
        network: network.slug,
        method: rule.match,
        route: route.id,
        result,
        ms,
      })
      if (record !== null) record.ended(result)
    }
    if (verdict.kind === 'open') observeEnd(verdict.body, 'ok', observe)
    else
      observe(verdict.kind === 'failure' ? whyOf(verdict, isLate) : verdict.kind === 'error' ? 'error' : 'ok')
    upstreams.unsupported.take(verdict, { route, live, method, rule, caller }, now)
    return { verdict, candidate }
  }
  const isRange = rule.block?.kind === 'range'
  const compare = isComparable(request) ? (result: Raw): boolean => isAboutAnother(request, result) : null
  // prettier-ignore
  const asked = { body, id, heavy: rule.timeout === 'heavy', caller, departure: whose, family: network.family, method, params, isRange, rows: route.errors, isAboutAnother: compare, flight, isLate, traceparent: traceparentFor(route, record, context, request.traced) }
  const { gather } = mode
  const isGathered = gather !== null && route.batch > 1 && !sentBefore && mayGather(request)
  // Long replies would not fit into one.
  const own = isGathered && !flights.of(row).isMostlyLong(caller) ? gather : null
  if (own !== null) flight?.gathered()
  return live.ask(asked, limits, clock.monotonic, own).then(verdict => {
    if (verdict.kind === 'error' && rule.retry === 'dedupe' && sentBefore)
      return alreadySent(verdict, request, candidate).then(conclude)
    const suspicion =
      verdict.kind === 'result' ? suspicionOf(verdict.result, candidate, request, heads) : null
    return conclude(suspicion === null ? verdict : suspected(verdict as Reply, suspicion))
  })
}

/** The `traceparent` to send to the node; null unless its route has `trace: true`. */
export function traceparentFor(
  { trace }: Pick<Route, 'trace'>,
  record: AttemptRecord | null,
  context: Context,
  caller: TracedCaller,
): string | null {
  if (!trace) return null
  return record === null ? context.live.tracing.unrecorded(context, caller) : record.traceparent
}

/** The result of an attempt whose reply streams is known when its body has ended. */
export function observeEnd(body: StreamedBody, whenWhole: string, observe: (result: string) => void): void {
  void body.ended.then(end => {
    observe(end === 'whole' ? whenWhole : end)
  })
}

/** Nobody has left where another route had answered before this one was sent the call. */
function whyOf({ why }: Failure, isLate: AttemptOptions['isLate']): string {
  return why === 'client_left' && isLate?.() === true ? 'unneeded' : why
}

function suspected(answer: Reply, why: Suspicion): Failure {
  return {
    kind: 'failure',
    why,
    refusal: refuse('upstream_error'),
    said: answer,
    passOn: true,
    sent: true,
    fault: false,
    detour: true,
    complaint: null,
  }
}

/** An earlier try may have brought the transaction to the chain: then its hash is the answer. */
async function alreadySent(
  error: Reply & { readonly kind: 'error' },
  { elements, network }: Request,
  { live }: Candidate,
): Promise<Reply> {
  const sent = familyOf(network).sentBefore(elements, error)
  if (sent === null) return error
  const { result, proof } = sent
  if (proof === null) return { kind: 'result', result }
  const found = await live.probe(proof.method, proof.params, LOOKUP_TIMEOUT)
  return found.kind === 'result' && found.result !== 'null' ? { kind: 'result', result } : error
}

/** It has not heard of it yet, or keeps it no more; or another route has taken the transaction. */
export type Suspicion = 'null_behind' | 'missing' | 'sent_elsewhere'

/** Why the result is not believed yet; null when it is. */
export function suspicionOf(
  result: Raw,
  { route, live }: Candidate,
  { network, row, takers, span }: Request,
  heads: Pick<Heads, 'best'>,
): Suspicion | null {
  if (takers.length > 0 && result === 'null' && !takers.includes(route.id)) return 'sent_elsewhere'
  const { rule, archive } = row
  if (!(rule.nullIsLag || rule.reads === 'history') || !saysNone(result, rule)) return null
  const best = heads.best(network.slug)
  if (rule.nullIsLag && isBehind(live, best, familyOf(network).probeLag)) return 'null_behind'
  if (rule.reads !== 'history' || rule.block === null) return null
  // A slot may have no block.
  const isThere =
    rule.block.kind !== 'slot' && span?.from.kind === 'number' && span.from.number <= (best ?? -1)
  return isThere || (archive.length > 0 && !archive.includes(route.id)) ? 'missing' : null
}

function isBehind({ head }: Candidate['live'], best: number | null, allowed: number): boolean {
  return best !== null && (head === null || head + allowed < best)
}

/** A null, or among the values of a call that asks for many. */
function saysNone(result: Raw, rule: Rule): boolean {
  if (result === 'null') return true
  if (rule.block !== null || result.charCodeAt(0) !== 123) return false
  const value = memberOf(result, 'value')
  return value?.charCodeAt(0) === 91 && elementsOf(value).includes('null')
}
