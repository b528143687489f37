/** Has a running gateway go on with another snapshot. */
import type { Gateway } from '../call/gateway.ts'
import type { Logger } from '../observe/log.ts'
import { inTimeSlices } from '../reload/time-slices.ts'
import type { Snapshot } from '../snapshot/types.ts'

/** New messages are served with `next`; routes that it does not name are closed when the calls in flight are over. */
export async function swap(gateway: Gateway, next: Snapshot, log: Logger): Promise<void> {
  const { upstreams, tracing } = gateway.live
  const opened = await inTimeSlices(upstreams.open(next))
  log.level = next.gateway.log.level
  await tracing.follow(next.gateway.tracing)
  const { left, underWay } = gateway.swap(next, opened)
  void underWay.then(() => inTimeSlices(upstreams.retire(left)))
}
