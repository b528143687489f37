/** Refuses a message as a whole. */
import { statusOf } from '../refusal/refusal.ts'
import { columnOf } from './caller.ts'
import type { Caller } from './caller.ts'
import type { Context, Live } from './context.ts'
import type { Sink } from './reply/sink.ts'
import type { Refusal } from '../refusal/refusal.ts'
import { encodeRefusal } from '../jsonrpc/raw.ts'

/** Refuses a message as a whole: one error object with id null. `status` replaces the table's. */
export function refuseMessage(
  refusal: Refusal,
  caller: Caller,
  sink: Sink,
  context: Context,
  status = statusOf(refusal, columnOf(caller.network)),
): void {
  const column = columnOf(caller.network)
  const { requestId, live } = context
  noteRefused(refusal, status, requestId, caller, live)
  sink.whole(status, encodeRefusal(refusal, 'null', column, requestId), refusal)
}

/** Counts a message that is refused as a whole. */
export function noteRefused(
  { reason }: Refusal,
  status: number,
  requestId: string,
  { network, plan, payer, visitor: { address } }: Pick<Caller, 'network' | 'plan' | 'payer' | 'visitor'>,
  { observer, journal, clock }: Pick<Live, 'observer' | 'journal' | 'clock'>,
): void {
  const [account, endpoint] = [payer?.account.id ?? null, payer?.endpoint.id ?? null]
  observer.refused({
    network: network.slug,
    plan: plan.name,
    address,
    account,
    endpoint,
    requestId,
    status,
    reason,
  })
  if (payer !== null) journal.refused(payer, 'other', reason, clock.now())
}
