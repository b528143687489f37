/** Last stage of the line: answers an admitted call here, by the socket's session, or by a node. */
import type { Raw } from '../jsonrpc/raw.ts'
import type { MethodRow } from '../snapshot/types.ts'
import type { Answer } from './answer.ts'
import type { BlockSpan } from './block.ts'
import type { Caller } from './caller.ts'
import type { Context } from './context.ts'
import { forward } from './forward.ts'
import type { ReplyMode } from './request.ts'
import { localResult } from './local.ts'
import { needOf, shownHead } from './need.ts'
import { findFilter, keepFilter, readerOf } from './sticky.ts'

/** A call that has passed every check and was admitted. */
export interface Decided {
  readonly row: MethodRow
  readonly method: string
  readonly params: Raw
  readonly span: BlockSpan
  /** Ids of the routes that may serve it. */
  readonly routes: readonly string[]
}

/** What the call is answered with. */
export async function fulfil(
  call: Decided,
  caller: Caller,
  mode: ReplyMode,
  context: Context,
): Promise<Answer> {
  const { rule } = call.row
  const { session, network } = caller
  if (rule.answer !== null) return { kind: 'result', result: localResult(rule.answer, network) }
  if (session !== null && rule.unsubscribes !== null) return session.unsubscribe(call.params, caller)
  if (session !== null && rule.subscribe !== null) return session.subscribe(call.row, call, caller)
  return askNode(call, caller, mode, context)
}

async function askNode(call: Decided, caller: Caller, mode: ReplyMode, context: Context): Promise<Answer> {
  const { row, method, span } = call
  const { sticky } = row.rule
  const { network } = caller
  const { floors } = context.live
  const found = sticky === 'use' ? findFilter(method, call.params, caller, context) : call
  if ('kind' in found) return found
  const reader = readerOf(caller)
  const need = needOf(row.rule, span, floors.of(reader, network.slug))
  const { params, routes } = found
  const { answer, route } = await forward({ network, row, method, params, routes, need }, mode, context)
  const shown = answer.kind === 'result' ? shownHead(method, span, answer.result) : null
  if (shown !== null) {
    floors.show(reader, network.slug, shown)
    if (route !== null) context.live.upstreams.learnHead(network, route, shown, context.live.now())
  }
  return sticky === 'create' ? keepFilter(answer, route, caller, context) : answer
}
