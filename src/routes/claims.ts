/**
 * Which height of a network is believed. A node may claim any: one route that says 2^53-1 would get all reads of the newest block, and
 * turn every other read into one of old state. Heights are blocks or slots; times are in milliseconds of a monotonic clock.
 */

/** A height may rise by what the network's block time allows, times this, and by this many more in any case. */
const TIMES = 4
const MORE = 64
/** How far two nodes of one chain may be apart for the higher one to be believed before either has shown a block. */
const FAR = 1_000_000

/** Milliseconds between two looks at a route, at most: for so long one route's word may stand alone. */
const LOOK = 15_000

/** What one route says of its height. */
export interface Claim {
  readonly height: number
  /** Whether the route has shown that block itself, or one close behind it. */
  readonly isShown: boolean
}

/** A height that two routes agreed on, or whose block a route has shown. */
export interface Anchor {
  readonly height: number
  readonly at: number
}

/** The highest height that is plausible at `now`, with one block every `blockTime` milliseconds since the anchor. */
export function highest({ height, at }: Anchor, blockTime: number, now: number): number {
  return height + (TIMES * Math.max(0, now - at)) / blockTime + MORE
}

/** Blocks by which one route alone may be believed to be ahead of all others. */
export function unproven(blockTime: number): number {
  return MORE + (TIMES * LOOK) / blockTime
}

/** Whether two heights are about the same: nodes hear of a block at different moments. */
export function isNear(a: number, b: number): boolean {
  return Math.abs(a - b) <= MORE
}

/** The claim that is believed; `sure` is the height up to which it is more than plausible, so that it makes an anchor. */
export interface Belief<C> {
  readonly claim: C
  readonly sure: number | null
}

/**
 * Of the claims of a network's routes, the one to believe. A claim counts up to `limit`, what is plausible (-1 while nothing is); when
 * another route says about the same; or when its route has shown that block and no two others agree on another height: a block can be
 * made up, two operators are harder to have. While none counts, the highest that is not absurdly far above the lowest. A single
 * route's word is taken.
 */
export function believe<C extends Claim>(claims: readonly C[], limit: number): Belief<C> | null {
  const sorted = [...claims].sort((a, b) => b.height - a.height)
  // Of two that agree the lower height is sure: else one could be led upwards step by step.
  const agreedOn = (claim: C): number | null => {
    const near = sorted.filter(other => other !== claim && isNear(other.height, claim.height))
    return near.length === 0 ? null : Math.min(claim.height, near[0]!.height)
  }
  const agreed = sorted.some(claim => agreedOn(claim) !== null)
  for (const claim of sorted) {
    const sure = agreedOn(claim) ?? (claim.isShown && !agreed ? claim.height : null)
    if (sure !== null || claim.height <= limit) return { claim, sure }
  }
  const lowest = sorted.at(-1)?.height ?? 0
  const claim = sorted.find(({ height }) => height - lowest <= FAR)
  return claim === undefined ? null : { claim, sure: null }
}
