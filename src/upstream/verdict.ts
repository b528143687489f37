/** What an exchange means for the call: an answer to pass on, or a reason to ask another route. */
import type { Readable } from 'node:stream'
import { refuse } from '../jsonrpc/refusal.ts'
import type { Refusal } from '../jsonrpc/refusal.ts'
import { readReply } from '../jsonrpc/reply.ts'
import type { Reply } from '../jsonrpc/reply.ts'
import type { Family } from '../snapshot/types.ts'
import type { Exchange } from './exchange.ts'
import { retryAfterMs } from './cool-down.ts'
import { classOf } from './node-errors.ts'
import type { NodeErrorClass } from './node-errors.ts'

/** The start of a reply too long to hold back, and the rest of it. */
export interface OpenAnswer {
  readonly kind: 'open'
  readonly head: Buffer
  readonly tail: Readable
}

/** Why an attempt gave no answer; `why` is a bounded word for metrics and `explain`. */
export interface Setback {
  readonly kind: 'setback'
  readonly why: string
  /** What the client is told when no other route can help. */
  readonly refusal: Refusal
  /** The node's own error, told instead of `refusal` where it is about the call. */
  readonly answer: Reply | null
  /** Whether the upstream may have acted on the request. */
  readonly sent: boolean
  /** Whether this speaks against the route as a whole. */
  readonly fault: boolean
  /** Milliseconds of pause that the upstream asked for (0: it did not say how long); null when it asked for none. */
  readonly coolDownMs: number | null
}

export type Verdict = Reply | OpenAnswer | Setback

/** HTTP statuses that are about the operator's standing with the upstream, never about the call. */
export const ABOUT_THE_OPERATOR = new Set([401, 403, 408, 429])

/** Judges an exchange for the call that went out under `id`. */
export function judge(exchange: Exchange, id: number, family: Family = 'evm'): Verdict {
  if (exchange.kind === 'broken') return brokenSetback(exchange.how, exchange.sent)
  const { status } = exchange
  if (status === 429) {
    const retryAfter = exchange.kind === 'whole' ? exchange.retryAfter : null
    return limited(retryAfterMs(retryAfter, Date.now()))
  }
  if (ABOUT_THE_OPERATOR.has(status) || status >= 500 || (status >= 300 && status < 400))
    return setback(`http_${status}`, refuse('upstream_error'), true)
  if (exchange.kind === 'open') {
    if (status !== 200) return setback(`http_${status}`, refuse('upstream_error'), true)
    return { kind: 'open', head: exchange.head, tail: exchange.tail }
  }
  const reply = readReply(exchange.body, id)
  if (reply === null) return setback('bad_reply', refuse('upstream_error'), true)
  if (reply.kind === 'result')
    return status < 300 ? reply : setback('bad_reply', refuse('upstream_error'), true)
  const errorClass = classOf(reply, family)
  return errorClass === null ? reply : nodeSetback(errorClass, reply)
}

function nodeSetback(errorClass: NodeErrorClass, reply: Reply): Setback {
  if (errorClass === 'limited') return limited(0)
  return { ...setback(errorClass, refuse('upstream_error'), errorClass === 'syncing'), answer: reply }
}

function brokenSetback(how: (Exchange & { kind: 'broken' })['how'], sent: boolean): Setback {
  const refusal =
    how === 'timeout'
      ? refuse('upstream_timeout')
      : how === 'too_large'
        ? refuse('response_too_large')
        : how === 'no_room'
          ? refuse('overloaded')
          : refuse(how === 'unreachable' ? 'no_route' : 'upstream_error')
  return { ...setback(how, refusal, how !== 'too_large' && how !== 'no_room' && how !== 'aborted'), sent }
}

/** The upstream is at a limit of its own. */
export function limited(coolDownMs: number): Setback {
  return { ...setback('limited', refuse('no_route', 'Every route is at its limit'), true), coolDownMs }
}

/** An attempt that gave no answer, on a node that may have acted on it. */
export function setback(why: string, refusal: Refusal, fault: boolean): Setback {
  return { kind: 'setback', why, refusal, answer: null, sent: true, fault, coolDownMs: null }
}
