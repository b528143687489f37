/** What an exchange means for the call and for the route: an answer to pass on, or a reason to ask another route. */
import { refuse } from '../../refusal/refusal.ts'
import type { Refusal } from '../../refusal/refusal.ts'
import type { Raw } from '../../jsonrpc/raw.ts'
import { readOpenError } from '../../jsonrpc/open-error.ts'
import { findOpenMember, relayValue } from '../../jsonrpc/relay.ts'
import type { OpenMember } from '../../jsonrpc/relay.ts'
import { isReply, readOwnError, readReply } from '../../jsonrpc/message.ts'
import type { Reply } from '../../jsonrpc/message.ts'
import type { NodeErrorClass } from '../../snapshot/types.ts'
import { replyFault } from './cause.ts'
import type { Broken, Exchange } from './exchange.ts'
import { familyOf } from '../../families/families.ts'
import { classify } from '../../families/errors/classify.ts'
import type { JudgedCall } from '../../families/errors/classify.ts'
import { retryAfterMs } from '../health/route-pauses.ts'
import type { Complained } from '../health/route-pauses.ts'
import { StreamedBody } from './streamed-body.ts'

/** A reply too long to hold back: its value passes on as it comes. */
export interface OpenAnswer {
  readonly kind: 'open'
  readonly member: OpenMember['member']
  /** The bytes of the value; its envelope is checked at their end. */
  readonly body: StreamedBody
}

/** Why an attempt gave no answer; `why` is a bounded word for metrics and `explain`. */
export interface Failure {
  readonly kind: 'failure'
  readonly why: string
  /** What is behind `why`, for operators; absent where that is all. */
  readonly cause?: string | null
  /** What the client gets when no other route can help. */
  readonly refusal: Refusal
  /** What the node itself said; null when it gave no reply. */
  readonly said: Reply | null
  /** Whether the client gets that in place of `refusal`: it is about the call. */
  readonly passOn: boolean
  /** Whether the upstream may have acted on the request. */
  readonly sent: boolean
  /** Whether this speaks against the route as a whole. */
  readonly fault: boolean
  /** Whether a route that answered cannot know: going on to one that can is no retry, and buries nobody. */
  readonly detour: boolean
  /** What the upstream complained about; null when it did not. */
  readonly complaint: Complained | null
}

export type Verdict = Reply | OpenAnswer | Failure

type NodeErrorReply = Reply & { readonly kind: 'error' }

/** HTTP statuses that are about the operator's key, plan or credit with the provider, never about the call. */
const BILLING = new Set([401, 402, 403])
const TOO_MANY_REQUESTS = 429
const REQUEST_TIMEOUT = 408

/** Judges an exchange for the call that went out under `id`, in the order transport, HTTP status, node's error. */
export function judge(exchange: Exchange, id: number, call: JudgedCall): Verdict {
  if (exchange.kind === 'broken') {
    const { how, sent, cause } = exchange
    return { ...failure(how, ...breaks[how]), sent, ...(cause != null && { cause }) }
  }
  const { status } = exchange
  if (exchange.kind === 'whole' && familyOf(call).errors.statuses.includes(status)) {
    const own = readOwnError(exchange.body, id)
    if (own !== null) return judgeError(own, call) ?? own
  }
  const byStatus = statusFailure(status, exchange.kind === 'whole' ? exchange.retryAfter : null)
  if (byStatus !== null) return byStatus
  if (exchange.kind === 'open') {
    if (status !== 200) return failure(`http_${status}`, refuse('upstream_error'), true)
    return openVerdict(exchange, id, call)
  }
  const reply = readReply(exchange.body, id)
  if (reply === null)
    return isReply(exchange.body)
      ? failure('stray_reply', refuse('upstream_error'), true)
      : badReply(exchange)
  if (reply.kind === 'result') return status < 300 ? reply : badReply(exchange)
  const verdict = judgeError(reply, call) ?? reply
  // What names no call may be a late word about an earlier one: it is believed where another connection or route says no other.
  return verdict === reply && reply.isUnaddressed === true
    ? { ...failure('stray_reply', refuse('upstream_error'), false), said: reply, passOn: true }
    : verdict
}

/** A reply that is none, with what came. */
function badReply({ status, lines }: { readonly status: number; readonly lines?: Raw }): Failure {
  return { ...failure('bad_reply', refuse('upstream_error'), true), cause: replyFault(status, lines) }
}

/** Judges a node's error, over HTTP or a socket; null when it is the answer to the call. */
export function judgeError(error: NodeErrorReply, call: JudgedCall): Failure | null {
  const errorClass = classify(error, call)
  return errorClass === 'answer' ? null : nodeFailure(errorClass, error)
}

/** Judges a reply by its first part. */
function openVerdict(
  { status, head, tail }: Exchange & { kind: 'open' },
  id: number,
  call: JudgedCall,
): Verdict {
  const raw = head.toString('latin1')
  const open = findOpenMember(raw)
  if (open === null) return badReply({ status })
  // Somebody else's, of which nothing has left yet; where the id comes behind the value, only the end can show it.
  if (open.id !== undefined && open.id !== String(id))
    return failure('stray_reply', refuse('upstream_error'), true)
  const error = open.member === 'error' ? readOpenError(raw, open.begin) : null
  const against = error === null ? null : judgeError(error, call)
  if (against !== null) return against
  const body = new StreamedBody(tail, { pieces: () => relayValue(head, open, tail, id) })
  return { kind: 'open', member: open.member, body }
}

/** What an HTTP status says about the route, whatever the body holds; null where the body decides. */
export function statusFailure(status: number, retryAfter: string | null): Failure | null {
  if (status === TOO_MANY_REQUESTS) {
    const asked = retryAfterMs(retryAfter, Date.now())
    return complained('limited', { about: 'limited', asked, from: 'status' })
  }
  if (BILLING.has(status)) return complained(`http_${status}`, { about: 'billing', asked: 0, from: 'status' })
  const isFault = status === REQUEST_TIMEOUT || status >= 500 || (status >= 300 && status < 400)
  return isFault ? failure(`http_${status}`, refuse('upstream_error'), true) : null
}

/** What each class of node errors does: to the route, and to what the client gets when no route answers. */
interface Effect {
  readonly fault: boolean
  readonly detour: boolean
  readonly complaint: Complained['about'] | null
  /** Whether the client gets the node's own error; else a refusal of ours, without a vendor's words. */
  readonly passOn: boolean
}

const NOTHING = { fault: false, detour: false, complaint: null } as const
const effects: Readonly<Record<Exclude<NodeErrorClass, 'answer'>, Effect>> = {
  missing: { ...NOTHING, detour: true, passOn: true },
  behind: { ...NOTHING, detour: true, passOn: false },
  unsupported: { ...NOTHING, detour: true, passOn: true },
  too_wide: { ...NOTHING, passOn: true },
  limited: { ...NOTHING, complaint: 'limited', passOn: false },
  billing: { ...NOTHING, complaint: 'billing', passOn: false },
  unavailable: { ...NOTHING, fault: true, passOn: false },
  internal: { ...NOTHING, fault: true, passOn: true },
}

function nodeFailure(errorClass: Exclude<NodeErrorClass, 'answer'>, reply: Reply): Failure {
  const { fault, detour, complaint: about, passOn } = effects[errorClass]
  const refusal = about === 'limited' ? AT_LIMIT : refuse(passOn ? 'upstream_error' : 'no_route')
  const complaint: Complained | null = about === null ? null : { about, asked: 0, from: 'text' }
  return { ...failure(errorClass, refusal, fault), detour, said: reply, passOn, complaint }
}

/** What the client gets for each way in which an exchange breaks, and whether that speaks against the route. */
const breaks: Readonly<Record<Broken['how'], readonly [refusal: Refusal, fault: boolean]>> = {
  unreachable: [refuse('no_route'), true],
  reset: [refuse('upstream_error'), true],
  timeout: [refuse('upstream_timeout'), true],
  too_large: [refuse('response_too_large'), false],
  no_room: [refuse('overloaded'), false],
  no_turn: [refuse('overloaded', 'Every route is at its limit'), false],
  client_left: [refuse('overloaded', 'Every route is at its limit'), false],
  aborted: [refuse('upstream_error'), false],
  batch_refused: [refuse('upstream_error'), false],
  batch_too_long: [refuse('upstream_error'), false],
}

const AT_LIMIT = refuse('no_route', 'Every route is at its limit')

function complained(why: string, complaint: Complained): Failure {
  const refusal = complaint.about === 'limited' ? AT_LIMIT : refuse('no_route')
  return { ...failure(why, refusal, false), complaint }
}

/** An attempt that gave no answer, on a node that may have acted on it. */
export function failure(why: string, refusal: Refusal, fault: boolean): Failure {
  return {
    kind: 'failure',
    why,
    refusal,
    said: null,
    passOn: false,
    sent: true,
    fault,
    detour: false,
    complaint: null,
  }
}
