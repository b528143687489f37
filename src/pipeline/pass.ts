/** One item of a message, from its bytes to where its reply may leave. */
import { isBad } from '../jsonrpc/call.ts'
import type { BadCall, Call } from '../jsonrpc/call.ts'
import { refuse } from '../jsonrpc/refusal.ts'
import type { Refusal } from '../jsonrpc/refusal.ts'
import { refused } from './answer.ts'
import type { Answer } from './answer.ts'
import type { Caller } from './caller.ts'
import type { Context } from './context.ts'
import { seal } from './finish.ts'
import { fulfil } from './fulfil.ts'
import type { ReplyMode } from './request.ts'
import { walk } from './line.ts'
import type { Passed } from './line.ts'
import { then } from './soon.ts'
import type { Soon } from './soon.ts'

/** Walks one item down the line, and on to `next` when its reply may leave. */
export function pass<R>(
  item: Call | BadCall,
  caller: Caller,
  mode: ReplyMode,
  context: Context,
  next: (passed: Passed) => Soon<R>,
): Soon<R> {
  if (isBad(item)) return next(passRefusal(item.refusal))
  // The rules of a verbatim network name verbs and paths, which are no JSON-RPC methods.
  if (caller.network.family === 'http' && !context.live.management.has(item.method))
    return next(passRefusal(refuse('method_not_found', ONLY_SERVICE)))
  const walked = walk(item, caller, context, decided => fulfil(decided, caller, mode, context))
  return then(walked, passed => seal<Answer, R>(passed, caller, context, next))
}

const ONLY_SERVICE = 'Only service_* methods are called here: send others to their path'

/** An item that is refused without a look at its method. */
export function passRefusal(refusal: Refusal): Passed {
  return { answer: refused(refusal), rule: null, admission: null, publicCost: 0, upstreamMs: 0 }
}
