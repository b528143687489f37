/** Whether the answer to a call may be kept, and what it depends on: read from the row and the params, before any route is asked. */
import { familyOf } from '../../families/families.ts'
import type { Reading } from '../../families/reading.ts'
import type { RouteNeed } from '../../families/route-need.ts'
import type { Network } from '../../snapshot/types.ts'
import type { Decided } from '../decide.ts'

/** What an answer has to be to be kept. */
export type Keeping =
  /** It depends on the params alone. */
  | { readonly kind: 'fixed' }
  /** It is about blocks that have to be final; only the answer shows which where `blocks` is null. */
  | { readonly kind: 'final'; readonly blocks: { readonly from: number; readonly to: number } | null }
  /** It is about a block that moves: for a while. */
  | { readonly kind: 'tip'; readonly of: 'head' | 'final' }

/** What is kept of a call's answer; null where nothing is. */
export function keepingOf(call: Decided, wants: RouteNeed | null, network: Network): Keeping | null {
  const { rule } = call.row
  if (network.cache === null || rule.cache.length === 0) return null
  if (rule.cache.includes('fixed')) return FIXED
  const reading = familyOf(network).reading(call, wants)
  if (reading.kind === 'moving') return tipOf(call, reading, network)
  if (!rule.cache.includes('final') || network.finality === null) return null
  if (reading.kind === 'numbers') return { kind: 'final', blocks: reading }
  return reading.kind === 'shown' && rule.shows !== null ? BY_RESULT : null
}

const FIXED: Keeping = { kind: 'fixed' }
const BY_RESULT: Keeping = { kind: 'final', blocks: null }
const AT_HEAD: Keeping = { kind: 'tip', of: 'head' }
const AT_FINAL: Keeping = { kind: 'tip', of: 'final' }

/** Of the blocks that nodes call by name, only the one that is asked for by the probes is known to stay. */
function tipOf(
  { row }: Decided,
  { tag }: Reading & { readonly kind: 'moving' },
  { cache, finality }: Network,
): Keeping | null {
  if (cache === null || cache.tip === 0 || !row.rule.cache.includes('tip')) return null
  if (tag === 'latest') return AT_HEAD
  return tag === finality ? AT_FINAL : null
}
