/** Answers a question for health from what is known of the routes, in the words of the family's nodes. */
import { familyOf } from '../families/families.ts'
import type { Network } from '../snapshot/types.ts'
import type { WholeAnswer } from './reply/answer.ts'
import type { Live } from './context.ts'

/** Well while some route can serve the newest block; else as behind as the best route is, where nodes of the family say so. */
export function healthOf(
  network: Network,
  { upstreams, clock }: Pick<Live, 'upstreams' | 'clock'>,
): WholeAnswer {
  const family = familyOf(network)
  const well = { kind: 'result', result: family.well } as const
  const at = clock.monotonic()
  if (network.routes.some(({ id }) => upstreams.whyUnhealthy(network, id, at) === null)) return well
  const behind = upstreams.of(network).flatMap(({ slotsBehind }) => slotsBehind ?? [])
  const error = family.unwell(behind.length === 0 ? null : Math.min(...behind))
  return error === null ? well : { kind: 'error', error }
}
