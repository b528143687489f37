/** How far each network has come, and which routes are behind. */
import { familyOf } from '../families/families.ts'
import type { Network } from '../snapshot/types.ts'
import { agreedPace, agreementOf, believe, borneOut, highest, isNear, unproven } from './claims.ts'
import type { Agreement, Anchor, Claim } from './claims.ts'
import { Finality } from './finality.ts'
import type { LiveRoute } from './live-route.ts'
import { agoOf, anchorOf } from './height-report.ts'
import type { HeightReport, TipReport } from './height-report.ts'

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
  /** What two routes agreed on last; the anchor may have gone on since. */
  readonly agreement: Agreement | null
}

/** Believed heads by network. Times are in milliseconds of a monotonic clock. */
export class Heads {
  readonly finality = new Finality()
  readonly #heads = new Map<string, Tip>()
  readonly #said = new WeakMap<LiveRoute, Said>()
  /** Milliseconds per block by network, as measured before this process began. */
  #paces: ReadonlyMap<string, number> = new Map()

  /** Milliseconds per block of each network whose head is known. */
  paces(): ReadonlyMap<string, number> {
    return new Map([...this.#heads].map(([slug, { blockTime }]) => [slug, blockTime]))
  }

  /** Milliseconds per block of a network; null while its head is not known. */
  blockTime(slug: string): number | null {
    return this.#heads.get(slug)?.blockTime ?? null
  }

  /** Begins with the paces of before: by its family's usual pace a quick chain's routes would look behind until they are measured. */
  expect(paces: ReadonlyMap<string, number>): void {
    this.#paces = paces
  }

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
    const at = before?.height === height ? before.at : now
    this.#say({ live, height, at, shown, believed, pace })
    this.update(chain, routes, now)
  }

  /** A route has shown the block of a height, which it claims. */
  show(chain: Chain, live: LiveRoute, height: number, routes: readonly LiveRoute[], now: number): void {
    const said = this.#said.get(live)
    if (said === undefined) return
    this.#say({ ...said, shown: height })
    this.update(chain, routes, now)
  }

  /** What is known of a route's height, for another process; null while it has claimed none. */
  reportOf(live: LiveRoute, now: number): HeightReport | null {
    const said = this.#said.get(live)
    if (said === undefined) return null
    const { height, at, shown, believed, pace } = said
    return { height, ago: now - at, head: live.head, shown, believed: agoOf(believed, now), pace }
  }

  /** What is known of a network, for another process; null while there is no head of it. */
  tipReport(slug: string, now: number): TipReport | null {
    const tip = this.#heads.get(slug)
    if (tip === undefined) return null
    const { anchor, agreement } = tip
    return { ...tip, anchor: agoOf(anchor, now), agreement: agoOf(agreement, now) }
  }

  /** Takes in what another process knows of a route's height; an update with all routes of the network has to follow. */
  takeIn(live: LiveRoute, { head, height, ago, shown, believed, pace }: HeightReport, now: number): void {
    live.head = head
    this.#say({ live, height, at: now - ago, shown, believed: anchorOf(believed, now), pace })
  }

  /** Takes in how far another process believes a network to be; an update has to follow, which knows better what was shown here. */
  takeTip(slug: string, tip: TipReport, now: number): void {
    const own = this.#heads.get(slug)
    const anchor = anchorOf(tip.anchor, now) ?? own?.anchor ?? null
    const agreement = anchorOf(tip.agreement, now) ?? own?.agreement ?? null
    this.#heads.set(slug, { ...tip, anchor, agreement })
  }

  /** Forgets what a route has claimed; it counts as current until it claims a height again. */
  forget(live: LiveRoute): void {
    this.#said.delete(live)
    live.head = live.claimed = null
  }

  /**
   * Whether a route should show the block that it claims: another contradicts it, it is not believed for sure, and no two have agreed yet,
   * after which a block proves nothing.
   */
  needsProof(slug: string, live: LiveRoute, routes: readonly LiveRoute[]): boolean {
    const said = this.#said.get(live)
    if (said === undefined || said.isShown) return false
    const { anchor = null, agreement = null } = this.#heads.get(slug) ?? {}
    if (agreement !== null || (anchor !== null && live.head === said.height)) return false
    return routes.some(route => !isNear(this.#said.get(route)?.height ?? said.height, said.height))
  }

  /** Takes in what the routes of a network have said. */
  update(chain: Chain, routes: readonly LiveRoute[], now: number): void {
    const said = routes.flatMap(live => this.#said.get(live) ?? [])
    const healthy = said.filter(({ live }) => live.whyNot(now) === null)
    const tip = this.#heads.get(chain.slug)
    const { blockTime = this.#paces.get(chain.slug) ?? usualPaceOf(chain) } = tip ?? {}
    let { anchor = null, agreement = null } = tip ?? {}
    const standing = agreement === null ? null : borneOut(healthy, agreement)
    if (standing !== null && standing.height >= (anchor?.height ?? 0)) {
      const { height, at, apart } = standing
      anchor = { height, at }
      if (apart !== null) agreement = agreementOf(anchor, apart, agreement)
    }
    const limit = limitOf({ blockTime, anchor, agreement }, now)
    const belief = believe(healthy, limit, agreement !== null)
    const most = Math.max(limit, belief?.claim.height ?? (limit === -1 ? Infinity : -1))
    for (const each of said)
      if (each.height <= most) this.#believe(each)
      else if ((each.live.head ?? 0) > most) each.live.head = null
    if (belief === null) return
    const { claim, sure, apart } = belief
    if (sure !== null) anchor = { height: sure, at: claim.at }
    if (apart !== null && anchor !== null) agreement = agreementOf(anchor, apart, agreement)
    this.#heads.set(chain.slug, {
      head: claim.height,
      anchor,
      agreement,
      blockTime: median(said.map(({ live }) => this.#said.get(live)?.pace ?? blockTime)) ?? blockTime,
    })
  }

  /** Whether a height is one that the network may have come to. */
  isPlausible(chain: Chain, height: number, now: number): boolean {
    const tip = this.#heads.get(chain.slug)
    if (tip?.anchor == null) return true
    return height <= Math.max(tip.head, limitOf(tip, now))
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

  #say(said: Omit<Said, 'isShown'>): void {
    const { live, height, shown } = said
    this.#said.set(live, { ...said, isShown: shown !== null && isNear(height, shown) })
    live.claimed = height
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
    this.finality.retain(slugs)
  }
}

/** The highest height that is plausible; -1 while nothing is. A route that slows down does not hold the others back. */
function limitOf({ anchor, agreement, blockTime }: Omit<Tip, 'head'>, now: number): number {
  const pace = Math.min(blockTime, agreement === null ? Infinity : agreedPace(agreement))
  return anchor === null ? -1 : highest(anchor, pace, now)
}

/** Blocks that a route may be behind. */
function allowedLag({ maxLag }: LagChain, { blockTime }: Tip): number {
  return Math.max(ALWAYS_ALLOWED, maxLag.unit === 'blocks' ? maxLag.value : maxLag.value / blockTime)
}

/** The middle one, of two the larger: one route that races does not set the pace. */
function median(numbers: readonly number[]): number | null {
  return [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? null
}
