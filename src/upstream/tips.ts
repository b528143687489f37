/** How far each network has come, and which routes are behind. */
import type { Network } from '../snapshot/types.ts'
import type { LiveRoute } from './live-route.ts'

/** A route may always be this many blocks behind: nodes hear of a block at different moments. */
const ALWAYS_ALLOWED = 2
/** Milliseconds per block, or slot, until the network's own pace has been measured. */
const USUAL_BLOCK_TIME = 12_000
const USUAL_SLOT_TIME = 400
/** Share of the newest measurement in the moving average. */
const WEIGHT = 0.2

interface Tip {
  readonly head: number
  /** The route that told it first. */
  readonly leader: LiveRoute
  /** When `head` was first seen, in milliseconds. */
  readonly at: number
  readonly blockTime: number | null
}

/** Best heads by network. */
export class Tips {
  readonly #tips = new Map<string, Tip>()

  /** Best head of the healthy routes of a network; null until one has told it. */
  best(slug: string): number | null {
    return this.#tips.get(slug)?.head ?? null
  }

  /** Takes in what the routes of a network have told. `now` in milliseconds. */
  update(slug: string, routes: readonly LiveRoute[], now: number): void {
    let leader: LiveRoute | null = null
    for (const live of routes)
      if (live.head !== null && live.head > (leader?.head ?? -1) && live.whyNot(now) === null) leader = live
    if (leader?.head == null) return
    const { head } = leader
    const tip = this.#tips.get(slug)
    // Only one route's own steps tell the pace: two routes may stand far apart at the same moment.
    const blockTime =
      tip?.leader === leader && head > tip.head
        ? pace(tip, (now - tip.at) / (head - tip.head))
        : (tip?.blockTime ?? null)
    if (tip?.head !== head || tip.leader !== leader)
      this.#tips.set(slug, { head, leader, at: now, blockTime })
  }

  /** Whether a route is further behind than the network's maxLag allows. */
  isLagging(
    { slug, maxLag, family }: Pick<Network, 'slug' | 'maxLag'> & Partial<Pick<Network, 'family'>>,
    live: Pick<LiveRoute, 'head'>,
  ): boolean {
    const tip = this.#tips.get(slug)
    if (tip === undefined || live.head === null) return false
    const usual = family === 'solana' ? USUAL_SLOT_TIME : USUAL_BLOCK_TIME
    const allowed = maxLag.unit === 'blocks' ? maxLag.value : maxLag.value / (tip.blockTime ?? usual)
    return tip.head - live.head > Math.max(ALWAYS_ALLOWED, allowed)
  }

  /** Forgets networks that are no longer served. */
  retain(slugs: ReadonlySet<string>): void {
    for (const slug of this.#tips.keys()) if (!slugs.has(slug)) this.#tips.delete(slug)
  }
}

function pace({ blockTime }: Tip, measured: number): number {
  return blockTime === null ? measured : blockTime + (measured - blockTime) * WEIGHT
}
