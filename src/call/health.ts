/** Answers a question for health from what is known of the routes, in the words of the family's nodes. */
import { rawJson } from '../jsonrpc/raw.ts'
import type { Network } from '../snapshot/types.ts'
import type { WholeAnswer } from './answer.ts'
import type { Live } from './context.ts'
import { localResult } from './local.ts'

/** Agave's NodeUnhealthy: Solana's clients know it as "behind". */
const NODE_UNHEALTHY = -32005

/** Well while some route can serve the newest block; on Solana else as behind as the best route is. */
export function healthOf(
  network: Network,
  { upstreams, monotonic }: Pick<Live, 'upstreams' | 'monotonic'>,
): WholeAnswer {
  const well = { kind: 'result', result: localResult('health', network) } as const
  const at = monotonic()
  if (
    network.family !== 'solana' ||
    network.routes.some(({ id }) => upstreams.whyNot(network, id, at) === null)
  )
    return well
  const behind = upstreams.of(network).flatMap(({ slotsBehind }) => slotsBehind ?? [])
  const numSlotsBehind = behind.length === 0 ? null : Math.min(...behind)
  const message = numSlotsBehind === null ? 'Node is unhealthy' : `Node is behind by ${numSlotsBehind} slots`
  return { kind: 'error', error: rawJson({ code: NODE_UNHEALTHY, message, data: { numSlotsBehind } }) }
}
