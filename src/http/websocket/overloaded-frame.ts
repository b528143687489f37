/** The answer to a message over a WebSocket that there is no room for. */
import type { Caller } from '../../call/caller.ts'
import { columnOf } from '../../call/caller.ts'
import type { Live } from '../../call/context.ts'
import { noteRefused } from '../../call/refuse-message.ts'
import { encodeRefusal } from '../../jsonrpc/raw.ts'
import type { Raw } from '../../jsonrpc/raw.ts'
import { refuse, statusOf } from '../../refusal/refusal.ts'
import { nextRequestId } from '../replies/reply.ts'

/** Counts the refusal of a message, and gives its frame. */
export function overloadedFrame(caller: Caller, live: Live): Raw {
  const [refusal, column, requestId] = [refuse('overloaded'), columnOf(caller.network), nextRequestId()]
  noteRefused(refusal, statusOf(refusal, column), requestId, caller, live)
  return encodeRefusal(refusal, 'null', column, requestId)
}
