/** What the cache would do with a call, in a sentence for the operator. */
import { familyOf } from '../../families/families.ts'
import type { Network, Snapshot } from '../../snapshot/types.ts'
import type { Recalled } from '../cache/recall.ts'
import { keepingOf } from '../cache/plan.ts'
import type { Decided } from '../decide.ts'

/** What is known of kept answers while the gateway runs. */
export interface LiveCache {
  /** What the cache says of the call now. */
  recall(call: Decided): Recalled
  /** The network's final block. */
  final(): number | null
}

/** What is kept of a call's answer. */
export interface ExplainedCache {
  /** The route that gave the answer which is kept; null where none is. */
  readonly keptFrom: string | null
  /** The newest block that the params name by number. */
  readonly block: number | null
  /** The network's final block; null where it is not known. */
  readonly final: number | null
  readonly why: string
}

/** What would be kept; null where no cache is configured. `hasParams` is whether the call was given with them. */
export function explainCache(
  call: Decided,
  hasParams: boolean,
  network: Network,
  { gateway }: Pick<Snapshot, 'gateway'>,
  live: LiveCache | null,
): ExplainedCache | null {
  const { rule } = call.row
  if (gateway.cache === null || familyOf(network).wire === 'http') return null
  const wants = familyOf(network).wants(call, network.slug, { find: () => null })
  const keeping = keepingOf(call, wants, network)
  const origin = live?.recall(call).kept?.origin ?? null
  const final = live?.final() ?? null
  const block = keeping?.kind === 'final' ? (keeping.blocks?.to ?? null) : null
  const known = { keptFrom: origin?.route ?? null, block, final }
  if (network.cache === null) return { ...known, why: 'not kept: nothing of this network is' }
  if (rule.cache.length === 0) return { ...known, why: 'not kept: its rule does not say cache' }
  const isAssumed = !hasParams && rule.block !== null
  if (isAssumed) return { ...known, why: 'no --params given: whether its answer is kept depends on them' }
  if (keeping === null) return { ...known, why: whyNot(call, network) }
  const by = origin === null ? '' : `kept, given by ${origin.route}: `
  if (keeping.kind === 'fixed') return { ...known, why: `${by}${FIXED}` }
  if (keeping.kind === 'tip')
    return { ...known, why: `${by}for ${network.cache.tip} ms at most, while the block stays the newest` }
  return { ...known, why: `${by}${finalSentence(block, final, rule.shows, live !== null)}` }
}

const FIXED = 'its answer depends on its params alone, and is given again for an hour'

function whyNot(call: Decided, { cache, finality }: Network): string {
  const { rule } = call.row
  if (finality === null && !rule.cache.includes('tip'))
    return 'not kept: its network has no finality, so no block of it is final'
  if (rule.cache.includes('tip') && cache?.tip === 0)
    return 'not kept: its block is not named by number or hash, and cache.tip of its network is 0s'
  return 'not kept: its block is not named by number or hash, and can change at any moment'
}

function finalSentence(
  block: number | null,
  final: number | null,
  shows: readonly string[] | null,
  isLive: boolean,
): string {
  const until = final === null ? 'no final block is known yet' : `final is ${final}`
  if (!isLive) return 'its answer is kept once its block is final, which the running gateway knows'
  if (block === null)
    return `its answer is kept once the block that it shows (${(shows ?? []).join('.')}) is final; ${until}`
  if (final === null) return `block ${block}: ${until}, so its answer is not kept`
  return block <= final
    ? `block ${block} is final (${block} ≤ ${final})`
    : `block ${block} is not final yet (${block} > ${final}), so its answer is not kept`
}
