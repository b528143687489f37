/** How far each network has come, and which routes are behind. */
import { familyOf } from '../families/families.ts'
import type { Network } from '../snapshot/types.ts'
import { believe, highest, isNear, unproven } from './claims.ts'
import type { Anchor, Claim } from './claims.ts'
import type { LiveRoute } from './live-route.ts'
import { BoundedCache } from '../limits/bounded-cache.ts'
import { settledFrom } from '../families/solana/scale.ts'
import type { Scale } from '../families/solana/scale.ts'

/** A route may always be this many blocks behind: nodes hear of a block at different moments. */
const ALWAYS_ALLOWED = 2
/** Share of the newest measurement in the moving average. */
const WEIGHT = 0.2

/**
 * Whether a route is behind: `doubtful` where it may be as well that one other route claims too much, as nobody has to prove so small a
 * lead.
 */
export type Lag = 'none' | 'doubtful' | 'certain'

type Chain = Pick<Network, 'slug'> & Partial<Pick<Network, 'family'>>

/** Milliseconds per height until the network's own pace has been measured. */
function usualPaceOf({ family = 'evm' }: Chain): number {
  return familyOf({ family }).usualPace
}

type LagChain = Chain & Pick<Network, 'maxLag'>

/** What one route said of its height last. */
interface Said extends Claim {
  readonly live: LiveRoute
  readonly at: number
  /** The highest block that it has shown. */
  readonly shown: number | null
  /** The height of it that was believed last, and when it said so. */
  readonly believed: Anchor | null
  /** Milliseconds per block by its own believed steps; null until it made one. */
  readonly pace: number | null
}

interface Tip {
  readonly head: number
  /** Milliseconds per block: the median of what the routes' own steps tell. */
  readonly blockTime: number
  readonly anchor: Anchor | null
}

/** Believed heads by network. Times are in milliseconds of a monotonic clock. */
export class Heads {
  readonly #heads = new Map<string, Tip>()
  readonly #said = new WeakMap<LiveRoute, Said>()

  /** Best believed head of the healthy routes of a network; null until there is one. */
  best(slug: string): number | null {
    return this.#heads.get(slug)?.head ?? null
  }

  /** Whether that is more than one route's word. */
  isConfirmed(slug: string): boolean {
    return this.#heads.get(slug)?.anchor != null
  }

  /** A route claims a height; its head rises to it where it is believed. */
  claim(chain: Chain, live: LiveRoute, height: number, routes: readonly LiveRoute[], now: number): void {
    const before = this.#said.get(live)
    const { shown = null, believed = null, pace = null } = before ?? {}
    const isShown = shown !== null && isNear(height, shown)
    const at = before?.height === height ? before.at : now
    this.#said.set(live, { live, height, isShown, at, shown, believed, pace })
    live.claimed = height
    this.update(chain, routes, now)
  }

  /** A route has shown the block of a height, which it claims. */
  show(chain: Chain, live: LiveRoute, height: number, routes: readonly LiveRoute[], now: number): void {
    const said = this.#said.get(live)
    if (said === undefined) return
    this.#said.set(live, { ...said, shown: height, isShown: isNear(said.height, height) })
    this.update(chain, routes, now)
  }

  /** Whether a route should show the block that it claims: another contradicts it, and it is not believed for sure. */
  needsProof(slug: string, live: LiveRoute, routes: readonly LiveRoute[]): boolean {
    const said = this.#said.get(live)
    if (said === undefined || said.isShown) return false
    if (this.#heads.get(slug)?.anchor != null && live.head === said.height) return false
    return routes.some(route => !isNear(this.#said.get(route)?.height ?? said.height, said.height))
  }

  /** Takes in what the routes of a network have said. */
  update(chain: Chain, routes: readonly LiveRoute[], now: number): void {
    const said = routes.flatMap(live => this.#said.get(live) ?? [])
    const tip = this.#heads.get(chain.slug)
    const { anchor = null, blockTime = usualPaceOf(chain) } = tip ?? {}
    const limit = anchor === null ? -1 : highest(anchor, blockTime, now)
    const belief = believe(
      said.filter(({ live }) => live.whyNot(now) === null),
      limit,
    )
    const most = Math.max(limit, belief?.claim.height ?? (limit === -1 ? Infinity : -1))
    for (const each of said)
      if (each.height <= most) this.#believe(each)
      else if ((each.live.head ?? 0) > most) each.live.head = null
    if (belief === null) return
    const { claim, sure } = belief
    this.#heads.set(chain.slug, {
      head: claim.height,
      blockTime: median(said.map(({ live }) => this.#said.get(live)?.pace ?? blockTime)) ?? blockTime,
      anchor: sure === null ? anchor : { height: sure, at: claim.at },
    })
  }

  /** Whether a height is one that the network may have come to. */
  isPlausible(chain: Chain, height: number, now: number): boolean {
    const tip = this.#heads.get(chain.slug)
    if (tip?.anchor == null) return true
    return height <= Math.max(tip.head, highest(tip.anchor, tip.blockTime, now))
  }

  /** Whether a route is further behind the network's head than its maxLag allows. */
  lagOf(chain: LagChain, live: Pick<LiveRoute, 'head'>): Lag {
    const tip = this.#heads.get(chain.slug)
    if (tip === undefined || live.head === null) return 'none'
    const behind = tip.head - live.head
    if (behind <= allowedLag(chain, tip)) return 'none'
    return behind <= unproven(tip.blockTime) ? 'doubtful' : 'certain'
  }

  /** What its lag means for calls, as a sentence for the operator; null where there is none. */
  whyBehind(chain: LagChain, live: Pick<LiveRoute, 'head'>): string | null {
    const lag = this.lagOf(chain, live)
    if (lag === 'none') return null
    const behind = `${(this.best(chain.slug) ?? 0) - (live.head ?? 0)} blocks behind`
    return lag === 'certain'
      ? `${behind}, so it serves no reads of the newest block`
      : `${behind}, so it serves reads of the newest block only while no healthy route is ahead of it`
  }

  /** The head that is more than one route's word, where any ever was; else the best believed one. Null until there is one. */
  certain(slug: string): number | null {
    const tip = this.#heads.get(slug)
    return tip?.anchor?.height ?? tip?.head ?? null
  }

  /** Whether a height is further behind what is certain than the network's maxLag allows: no single route makes others look slow. */
  isBehind(chain: LagChain, height: number): boolean {
    const tip = this.#heads.get(chain.slug)
    return tip !== undefined && (this.certain(chain.slug) ?? 0) - height > allowedLag(chain, tip)
  }

  /** The route has come to what it claims. Only a route's own steps tell its pace: two may stand far apart at the same moment. */
  #believe(said: Said): void {
    const { live, height, at, believed, pace } = said
    live.head = height
    if (believed?.height === height) return
    const step = believed !== null && height > believed.height && at > believed.at
    const measured = step ? (at - believed.at) / (height - believed.height) : null
    const blended = measured === null || pace === null ? measured : pace + (measured - pace) * WEIGHT
    this.#said.set(live, { ...said, believed: { height, at }, pace: blended ?? pace })
  }

  /** Forgets networks that are no longer served. */
  retain(slugs: ReadonlySet<string>): void {
    for (const slug of this.#heads.keys()) if (!slugs.has(slug)) this.#heads.delete(slug)
  }
}

/** Blocks that a route may be behind. */
function allowedLag({ maxLag }: LagChain, { blockTime }: Tip): number {
  return Math.max(ALWAYS_ALLOWED, maxLag.unit === 'blocks' ? maxLag.value : maxLag.value / blockTime)
}

/** The middle one, of two the larger: one route that races does not set the pace. */
function median(numbers: readonly number[]): number | null {
  return [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? null
}

/** Endpoints remembered of a network, and milliseconds after which a floor yields. */
const KEPT = 20_000
const YIELDS_AFTER = 5_000

/** Newest blocks shown, by endpoint, network and scale. */
export class Floors {
  /** By network and scale; made with the first block shown there. */
  readonly #shown = new Map<string, Map<Scale, BoundedCache<number>>>()

  /** The block below which nothing should be served to `reader` now; null when there is none. */
  of(reader: string, network: string, scale: Scale = 'head'): number | null {
    const scales = this.#shown.get(network)
    if (scales === undefined) return null
    let floor: number | null = null
    for (const other of settledFrom(scale)) {
      const shown = scales.get(other)?.get(reader)
      if (shown !== undefined && shown > (floor ?? -1)) floor = shown
    }
    return floor
  }

  /** A block number was shown. */
  show(reader: string, network: string, head: number, scale: Scale = 'head'): void {
    let scales = this.#shown.get(network)
    if (scales === undefined) this.#shown.set(network, (scales = new Map<Scale, BoundedCache<number>>()))
    let readers = scales.get(scale)
    if (readers === undefined) scales.set(scale, (readers = new BoundedCache(KEPT, { ttl: YIELDS_AFTER })))
    if (head >= (readers.get(reader) ?? 0)) readers.set(reader, head)
  }
}
