/** Whether equal calls in flight are sent as one, in a sentence for the operator. */
import { familyOf } from '../../families/families.ts'
import type { Network } from '../../snapshot/types.ts'
import type { Decided } from '../decide.ts'
import { FRESH } from '../share/flight.ts'

/** What sharing makes of a call; `hasParams` is whether it was given with them. */
export function explainSharing(
  call: Decided,
  hasParams: boolean,
  head: number | null,
  network: Network,
): string {
  const { share, retry, sticky, block, cache } = call.row.rule
  if (!network.share) return 'not shared: its network says share: false'
  if (!share) return 'not shared: its rule says share: false'
  if (sticky !== null) return "not shared: its answer is one caller's own"
  if (retry !== 'safe') return 'not shared: only methods with retry: safe are'
  if (!hasParams && block !== null) return `${SHARED}; how late one may join depends on the params`
  const wants = familyOf(network).wants(call, network.slug, { find: () => null })
  const reading = familyOf(network).reading(call, wants)
  const isNamed =
    reading.kind === 'shown' || (reading.kind === 'numbers' && (head === null || reading.to <= head))
  return isNamed || cache.includes('fixed')
    ? `${SHARED}, for as long as the first one takes`
    : `${SHARED}, within ${FRESH} ms of the first one: they read what can change at any moment`
}

const SHARED = 'equal calls in flight are sent as one'
