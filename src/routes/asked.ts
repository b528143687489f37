/** One call for a route, and what its answer has to be about. */
import type { JudgedCall } from '../families/errors/classify.ts'
import type { LongText } from '../jsonrpc/long-text.ts'
import type { Raw } from '../jsonrpc/raw.ts'
import { refuse } from '../refusal/refusal.ts'
import type { Exchange, ExchangeLimits } from './transport/exchange.ts'
import { failure } from './transport/verdict.ts'
import type { Failure, Verdict } from './transport/verdict.ts'

/** One call for a route, and what its reply is judged by. */
export interface Asked extends JudgedCall {
  readonly body: Raw | LongText
  readonly id: number
  /** Whose call it is: an account, or on the public route an address. What it suffers is held against the route for that one. */
  readonly caller: string
  /** Of whoever waits for its answer; asked for only while it waits for a connection. */
  readonly departure: () => ExchangeLimits['departure']
  /** Heavy calls may be long under way without a route being ill. */
  readonly heavy: boolean
  /** Hears when it is sent, and to which route; null where nobody waits with it. */
  readonly flight: { sent(now: number, route: string): void } | null
  /** Whether a result is about another block or transaction than the call names; null where nothing is compared. */
  readonly isAboutAnother: ((result: Raw) => boolean) | null
  /** Whether another route has answered the call meanwhile; absent where it was sent to no other. */
  readonly isLate?: (() => boolean) | undefined
  /** What the node is told of the call's trace; null where it is told nothing. */
  readonly traceparent: string | null
}

/** An answer to another call: of its connection, of a cache in front of the node, or of another chain behind the same URL. */
const WRONG_ANSWER: Failure = { ...failure('wrong_answer', refuse('upstream_error'), true), detour: true }

/** Failures after which a connection may hold somebody else's reply. */
const CROSSED = new Set(['stray_reply', 'wrong_answer'])

/** The verdict, unless it is a result about another block or transaction than the call names. */
export function ofThisCall(verdict: Verdict, { isAboutAnother }: Pick<Asked, 'isAboutAnother'>): Verdict {
  return verdict.kind === 'result' && isAboutAnother?.(verdict.result) === true ? WRONG_ANSWER : verdict
}

/** The same as a failure that takes nothing from the retry budget, where another call of its body does so for both. */
export function paidFor(verdict: Verdict, exchange: Exchange): Verdict {
  const isPaidFor = exchange.kind !== 'open' && exchange.isPaidFor === true
  return isPaidFor && verdict.kind === 'failure' ? { ...verdict, detour: true } : verdict
}

/** Whether its connection may hold somebody else's replies. */
export function isCrossed(verdict: Verdict): boolean {
  return verdict.kind === 'failure' && CROSSED.has(verdict.why)
}
