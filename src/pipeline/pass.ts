/** One item of a message, from its bytes to where its reply may leave. */
import { isBad } from '../jsonrpc/call.ts'
import type { BadCall, Call } from '../jsonrpc/call.ts'
import type { Refusal } from '../jsonrpc/refusal.ts'
import { refused } from './answer.ts'
import type { Caller } from './caller.ts'
import type { Context } from './context.ts'
import { seal } from './finish.ts'
import type { ReplyMode } from './request.ts'
import { walk } from './line.ts'
import type { Passed } from './line.ts'

/** Walks one item down the line. */
export async function pass(
  item: Call | BadCall,
  caller: Caller,
  mode: ReplyMode,
  context: Context,
): Promise<Passed> {
  if (isBad(item)) return passRefusal(item.refusal)
  return seal(await walk(item, caller, mode, context), caller, context)
}

/** An item that is refused without a look at its method. */
export function passRefusal(refusal: Refusal): Passed {
  return { answer: refused(refusal), rule: null, admission: null, publicCost: 0, upstreamMs: 0 }
}
