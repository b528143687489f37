/** Answers a call that was let in: here, by the socket's session, or by a node. */
import { familyOf } from '../families/families.ts'
import type { MaybePromise } from '../ports/maybe-promise.ts'
import { refuse } from '../refusal/refusal.ts'
import { refused } from './reply/answer.ts'
import type { Answer } from './reply/answer.ts'
import type { Caller } from './caller.ts'
import type { Context } from './context.ts'
import type { Decided } from './decide.ts'
import { forward, forwarded } from './node/forward.ts'
import type { ReplyMode } from './node/request.ts'
import { healthOf } from './health.ts'
import { holderOf } from './holder.ts'
import { localResult } from './local.ts'
import { remember } from './node/remember.ts'
import { needOf } from './node/need.ts'
import { findFilter, keepFilter, readerOf } from './node/sticky.ts'

/** What the call is answered with. */
export function execute(
  call: Decided,
  caller: Caller,
  mode: ReplyMode,
  context: Context,
): MaybePromise<Answer> {
  const { rule } = call.row
  const { session, network } = caller
  if (rule.answer === 'health') return healthOf(network, context.live)
  if (rule.answer !== null) return { kind: 'result', result: localResult(rule.answer, network) }
  if (session !== null && rule.unsubscribes !== null) return session.unsubscribe(call.params, caller)
  if (session !== null && rule.subscribe !== null) return session.subscribe(call.row, call, caller)
  return askNode(call, caller, mode, context)
}

async function askNode(call: Decided, caller: Caller, mode: ReplyMode, context: Context): Promise<Answer> {
  // A reply that could not be held would cost a connection to the node, which ends amid it.
  if (mode.holder?.isSpent === true) return refused(refuse('overloaded'))
  const { row, method, span } = call
  const { network } = caller
  const { slug } = network
  const { sticky } = row.rule
  const { floors, blockhashes } = context.live
  const found = sticky === 'use' || sticky === 'end' ? findFilter(call, caller, context) : call
  if ('kind' in found) return found
  const reader = readerOf(caller)
  const wants = familyOf(network).wants(call, slug, blockhashes)
  const need = needOf(row.rule, span, floors.of(reader, slug, wants?.scale), wants)
  const { params, routes } = found
  const request = { network, row, method, params, routes, need, caller: holderOf(caller) }
  const { answer, route } = forwarded(await forward(request, mode, context), context)
  if (answer.kind === 'result')
    remember({ network, call, wants, reader, route, result: answer.result }, context.live)
  return sticky === 'create' ? keepFilter(answer, route, caller, context) : answer
}
