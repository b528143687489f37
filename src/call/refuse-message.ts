/** Refuses a message as a whole. */
import { statusOf } from '../refusal/refusal.ts'
import { columnOf } from './caller.ts'
import type { Caller } from './caller.ts'
import type { Context } from './context.ts'
import type { Sink } from './reply/sink.ts'
import type { Refusal } from '../refusal/refusal.ts'
import { encodeRefusal } from '../jsonrpc/raw.ts'

/** Refuses a message as a whole: one error object with id null. `status` replaces the table's. */
export function refuseMessage(
  refusal: Refusal,
  caller: Caller,
  sink: Sink,
  context: Context,
  status?: number,
): void {
  const column = columnOf(caller.network)
  const { observer, journal, clock } = context.live
  observer.refused(refusal.reason, { network: caller.network.slug, plan: caller.plan.name })
  if (caller.payer !== null) journal.refused(caller.payer, 'other', refusal.reason, clock.now())
  sink.whole(
    status ?? statusOf(refusal, column),
    encodeRefusal(refusal, 'null', column, context.requestId),
    refusal,
  )
}
