/**
 * Which height of a network is believed. A node may claim any: one route that says 2^53-1 would get all reads of the newest block, and
 * turn every other read into one of old state. Heights are blocks or slots; times are in milliseconds of a monotonic clock.
 */

/** A height may rise by what the network's block time allows, times this, and by this many more in any case. */
const TIMES = 4
const MORE = 64
/** How close together two routes have to be for their height to show the network's pace. */
const CLOSE = MORE / 4
/** Blocks that a route may be short of that pace: the true height, up to CLOSE more, then stays plausible beside it. */
const SLACK = MORE / 2
/** Milliseconds over which that pace is measured: before the first it is not known, at the second an older block counts no more. */
const SHORTEST = 60_000
const LONGEST = 300_000
/** What one step counts at most then: a chain that halts for an hour goes on as before. */
const MOST_OF_IT = 0.2
/** How far two nodes of one chain may be apart for the higher one to be believed before either has shown a block. */
const FAR = 1_000_000

/** Milliseconds between two looks at a route, at most: for so long one route's word may stand alone. */
const LOOK = 15_000

/** What one route says of its height, and since when. */
export interface Claim {
  readonly height: number
  readonly at: number
  /** Whether the route has shown that block itself, or one close behind it. */
  readonly isShown: boolean
}

/** A height that is more than one route's word, and when the network had come to it. */
export interface Anchor {
  readonly height: number
  readonly at: number
}

/** The last height at which two routes stood close together, and the pace of those heights: no single route can bend it. */
export interface Agreement extends Anchor {
  /** Blocks per millisecond. */
  readonly rate: number
  /** Milliseconds that it is measured over. */
  readonly over: number
}

/** Milliseconds per block while two routes agreed; Infinity until they have done so for long enough. */
export function agreedPace({ rate, over }: Agreement): number {
  return over < SHORTEST ? Infinity : 1 / rate
}

/** The last agreement, now that two routes are so far `apart` at `anchor`. */
export function agreementOf(anchor: Anchor, apart: number, before: Agreement | null): Agreement {
  const blocks = anchor.height - (before?.height ?? Infinity)
  if (before === null || blocks < -MORE) return { ...anchor, rate: 0, over: 0 }
  const time = anchor.at - before.at
  if (apart > CLOSE || blocks < 0 || time <= 0) return before
  const over = Math.min(LONGEST, before.over + time)
  const weight = Math.min(time / over, before.over < LONGEST ? 1 : MOST_OF_IT)
  return { ...anchor, rate: before.rate + (blocks / time - before.rate) * weight, over }
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
  /** Blocks between the two that agree on it; null where no two do. */
  readonly apart: number | null
}

/**
 * Of the claims of a network's routes, the one to believe. A claim counts up to `limit`, what is plausible (-1 while nothing is), and when
 * another route says about the same. Until two routes have agreed for the first time, one counts as well whose route has shown that
 * block: a block can be made up, two operators are harder to have. While none counts, the highest that is not absurdly far above the
 * lowest. A single route's word is taken.
 */
export function believe<C extends Claim>(
  claims: readonly C[],
  limit: number,
  haveAgreed: boolean,
): Belief<C> | null {
  const sorted = highestFirst(claims)
  const mayProve = !haveAgreed && pairOf(sorted) === null
  for (const claim of sorted) {
    const near = sorted.find(other => other !== claim && isNear(other.height, claim.height))
    // Of two that agree the lower height is sure: else one could be led upwards step by step.
    if (near !== undefined)
      return {
        claim,
        sure: Math.min(claim.height, near.height),
        apart: Math.abs(claim.height - near.height),
      }
    const isProven = mayProve && claim.isShown
    if (isProven || claim.height <= limit) return { claim, sure: isProven ? claim.height : null, apart: null }
  }
  const lowest = sorted.at(-1)?.height ?? 0
  const claim = sorted.find(({ height }) => height - lowest <= FAR)
  return claim === undefined ? null : { claim, sure: null, apart: null }
}

/** A height that two routes have come to, and how far apart those are that agree on it; null where the other one claims more. */
export interface Standing extends Anchor {
  readonly apart: number | null
}

/**
 * How far the network has come since two routes agreed, whatever more the highest claim says: the lower of two that agree, else the second
 * highest. Null where its route has fallen behind the pace that the network had: then the other one may be right.
 */
export function borneOut(claims: readonly Claim[], since: Agreement): Standing | null {
  const sorted = highestFirst(claims)
  const second = sorted[1]
  const standing = pairOf(sorted) ?? (second === undefined ? null : { ...second, apart: null })
  if (standing === null || since.over < SHORTEST) return null
  const expected = since.height + Math.max(0, standing.at - since.at) * since.rate
  return standing.height < expected - SLACK ? null : standing
}

function highestFirst<C extends Claim>(claims: readonly C[]): C[] {
  return [...claims].sort((a, b) => b.height - a.height)
}

/** What the highest two agree on: the lower height, which the higher one had at least when it came to its own. */
function pairOf(sorted: readonly Claim[]): Standing | null {
  for (const [n, { height }] of sorted.entries()) {
    const above = sorted[n - 1]
    if (above !== undefined && isNear(above.height, height))
      return { height, at: above.at, apart: above.height - height }
  }
  return null
}
