/**
 * Which blocks of a network are final, by what its routes report. It takes two routes to make a block final, so that one that lies or fails raises
 * nothing, and one that is stuck holds nothing up.
 */
import type { FinalBlock } from '../families/probing.ts'
import type { Network } from '../snapshot/types.ts'
import type { LiveRoute } from './live-route.ts'

/** Milliseconds for which every route has to report less than was final before: then another chain is behind them. */
const RESET_AFTER = 60_000
/** Hashes of final blocks that are remembered of a network. */
const HASHES = 256

type Chain = Pick<Network, 'slug' | 'cache' | 'finality' | 'routes'>
type Route = Pick<LiveRoute, 'id' | 'head' | 'final'>

/** What is final, for another process. */
export interface FinalityReport {
  /** What counts as final there: an edit reaches processes at different moments. */
  readonly by: Network['finality']
  readonly final: number | null
  /** Changes whenever what was final is not any more. */
  readonly epoch: string
}

/** Hears of a network whose final blocks have changed; `why` is null where another process says so. */
export type ResetListener = (network: string, why: string | null) => void

interface State {
  /** The newest final block. It only rises. */
  final: number | null
  /** Since when every route has reported less. */
  belowSince: number | null
  /** Routes that cannot say. */
  readonly silent: Set<string>
  isSilenceTold: boolean
  readonly hashes: Map<number, string>
  resets: number
  /** Of the process that probes; null in that process itself. */
  epoch: string | null
}

/** Final blocks by network. Times are in milliseconds of a monotonic clock. */
export class Finality {
  readonly #states = new Map<string, State>()
  readonly #run = Date.now()
  #reset: ResetListener = () => undefined
  #unknown: (network: string) => void = () => undefined

  /** Calls `listener` when what was final has changed: nothing that was read there before holds. */
  whenReset(listener: ResetListener): void {
    this.#reset = listener
  }

  /** Calls `listener`, once, when no route of a network can say what is final. */
  whenUnknown(listener: (network: string) => void): void {
    this.#unknown = listener
  }

  /** The newest final block; null while none is known. */
  of(slug: string): number | null {
    return this.#states.get(slug)?.final ?? null
  }

  /** Whether a block is final, and the route itself is known to have it behind it. */
  hasFinal(network: Pick<Network, 'slug' | 'finality'>, route: Route, number: number): boolean {
    return number <= (this.of(network.slug) ?? -1) && number <= (finalOf(network, route) ?? -1)
  }

  /** A route has reported its final block, or that it knows none. */
  take(network: Chain, route: LiveRoute, block: FinalBlock | null): void {
    const state = this.#stateOf(network.slug)
    route.final = block?.number ?? null
    if (block === null) {
      state.silent.add(route.id)
      if (state.isSilenceTold || reporting(network).some(id => !state.silent.has(id))) return
      state.isSilenceTold = true
      this.#unknown(network.slug)
      return
    }
    state.silent.delete(route.id)
    this.#takeHash(network, state, route, block)
  }

  /**
   * Final blocks whose hashes the routes should show: the newest one where no tag names it, then the newest one whose hash is known. As long as
   * that one is the same, what was read at or below it holds.
   */
  toShow({ slug, finality }: Pick<Network, 'slug' | 'finality'>): readonly number[] {
    const { final = null, hashes } = this.#states.get(slug) ?? {}
    if (final === null || hashes === undefined) return []
    const known = [...hashes.keys()].reduce(
      (most, number) => (number <= final ? Math.max(most, number) : most),
      -1,
    )
    const newest = typeof finality === 'number' ? [final] : []
    return known === -1 || newest.includes(known) ? newest : [...newest, known]
  }

  /** A route has shown a block that is final. */
  show(network: Pick<Network, 'slug'>, route: Pick<LiveRoute, 'id'>, block: FinalBlock): void {
    this.#takeHash(network, this.#stateOf(network.slug), route, block)
  }

  /** Takes in what the routes have reported, once a probe. */
  update(network: Chain, routes: readonly LiveRoute[], now: number): void {
    if (network.cache === null || network.finality === null) return
    const state = this.#stateOf(network.slug)
    const ids = reporting(network)
    const needed = ids.length === 1 ? 1 : 2
    const counted = routes.filter(({ id }) => ids.includes(id))
    const sound = counted.filter(live => live.identified && live.whyNot(now) === null)
    const agreed = finals(network, sound)[needed - 1] ?? null
    if (agreed !== null && agreed > (state.final ?? -1)) state.final = agreed
    // A route that is down has said what it said: it is no reason to forget.
    const all = finals(network, counted)
    const isBelow = all.length >= needed && all[0]! < (state.final ?? -1)
    state.belowSince = isBelow ? (state.belowSince ?? now) : null
    if (state.belowSince === null || now - state.belowSince < RESET_AFTER) return
    this.#forgetFinal(network.slug, state, `all routes report a final block below ${state.final ?? 0}`)
    state.final = agreed
  }

  /** What is known of a network, for another process. */
  report({ slug, finality }: Pick<Network, 'slug' | 'finality'>): FinalityReport {
    const { final = null, resets = 0 } = this.#states.get(slug) ?? {}
    return { by: finality, final, epoch: `${this.#run} ${resets}` }
  }

  /** Takes in what the process that probes knows. One that was started anew knows nothing of before, so nothing of before is kept. */
  takeReport(
    { slug, finality }: Pick<Network, 'slug' | 'finality'>,
    { by, final, epoch }: FinalityReport,
  ): void {
    if (by !== finality) return
    const state = this.#stateOf(slug)
    if (state.epoch !== null && state.epoch !== epoch) this.#reset(slug, null)
    state.epoch = epoch
    state.final = final
  }

  /** Forgets a network of which something else is final now. */
  forget(slug: string): void {
    this.#states.delete(slug)
  }

  /** Forgets networks that are no longer served. */
  retain(slugs: ReadonlySet<string>): void {
    for (const slug of this.#states.keys()) if (!slugs.has(slug)) this.#states.delete(slug)
  }

  #takeHash(
    { slug }: Pick<Network, 'slug'>,
    state: State,
    { id }: Pick<LiveRoute, 'id'>,
    { number, hash }: FinalBlock,
  ): void {
    if (hash === null) return
    const known = state.hashes.get(number)
    if (known !== undefined && known !== hash && number <= (state.final ?? -1))
      this.#forgetFinal(slug, state, `${id} reports another hash for the final block ${number}`)
    state.hashes.set(number, hash)
    if (state.hashes.size > HASHES) state.hashes.delete(state.hashes.keys().next().value!)
  }

  #forgetFinal(slug: string, state: State, why: string): void {
    state.final = state.belowSince = null
    state.hashes.clear()
    state.resets += 1
    this.#reset(slug, why)
  }

  #stateOf(slug: string): State {
    let state = this.#states.get(slug)
    if (state === undefined) {
      state = {
        final: null,
        belowSince: null,
        silent: new Set(),
        isSilenceTold: false,
        hashes: new Map(),
        resets: 0,
        epoch: null,
      }
      this.#states.set(slug, state)
    }
    return state
  }
}

/** The routes whose word counts: a relay that takes transactions alone may know no block, and cannot be waited for. */
function reporting({ routes }: Chain): string[] {
  const open = routes.filter(route => !route.private)
  return (open.length === 0 ? routes : open).map(({ id }) => id)
}

/** The final block of one route, by itself. */
function finalOf({ finality }: Pick<Network, 'finality'>, { head, final }: Route): number | null {
  if (typeof finality !== 'number') return final
  return head === null || head < finality ? null : head - finality
}

/** Those of some routes, the highest first. */
function finals(network: Pick<Network, 'finality'>, routes: readonly LiveRoute[]): number[] {
  return routes.flatMap(live => finalOf(network, live) ?? []).sort((a, b) => b - a)
}
