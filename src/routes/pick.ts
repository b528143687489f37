/** The route for the next attempt of a call, and what bounds attempts: retries of a network, and routes known to lack a method. */
import type { Route } from '../snapshot/types.ts'
import type { LiveRoute } from './live-route.ts'
import type { Scale } from '../families/solana/scale.ts'
import type { Lag } from './heads.ts'
import { BoundedCache } from '../limits/bounded-cache.ts'

/** A route together with its live state. */
export interface Candidate {
  readonly route: Route
  readonly live: LiveRoute
}

/** What a call asks of a route besides being able. */
export interface Need {
  /** It reads the newest block: a lagging route must not serve it. */
  readonly tip: boolean
  /** A block that the route should have come to; null when none is known. */
  readonly atLeast: number | null
  /** Whether the call may be the one that tries a route which failed. */
  readonly mayProbe: boolean
  /** What `atLeast` counts; default the head. */
  readonly scale?: Scale
  /** Routes that come before all others, whatever their priority, as long as they can serve it. */
  readonly prefer?: readonly string[]
}

/** Says whether a route is behind the others. */
export type LagOf = (candidate: Candidate) => Lag

/** The chosen route; `full` when all that could serve are at the operator's limits; `none` when none can. */
export type Picked = Candidate | 'full' | 'none'

/** Between whom the next attempt is decided; or as for `Picked`. */
export type Contenders = readonly Candidate[] | 'full' | 'none'

/**
 * Picks among able routes that this call has not tried yet. `caller` is whose call it is: what only its own calls have suffered keeps
 * only them away. `now` in milliseconds of a monotonic clock.
 */
export function pick(
  able: readonly Candidate[],
  need: Need,
  lagOf: LagOf,
  caller: string,
  now: number,
  random = Math.random,
): Picked {
  const choice = contenders(able, need, lagOf, caller, now)
  if (typeof choice === 'string') return choice
  const chosen = better(choice, random)
  if (chosen.live.breaker.state(now, caller) === 'half-open') chosen.live.breaker.beginTest(now, caller)
  return chosen
}

/**
 * The routes that nothing but weight and load decides between; changes nothing, so that it can be asked to explain. Without a caller,
 * for one of whom nothing is known.
 */
export function contenders(
  able: readonly Candidate[],
  need: Need,
  lagOf: LagOf,
  caller: string | undefined,
  now: number,
): Contenders {
  const usable = able.filter(({ live }) => live.fault === null && !live.pauses.isBinding(now, caller))
  // The only one is taken whatever its state: see below.
  if (usable.length === 1) return usable[0]!.live.limits.fits(now, caller) ? usable : 'full'
  const choice = bestOf(usable, need, lagOf, ({ live }) => isHealthy(live, need, caller, now))
  if (choice.length === 0) return 'none'
  const withRoom = choice.filter(({ live }) => live.limits.fits(now, caller))
  if (withRoom.length === 0) return 'full'
  const preferred =
    need.prefer === undefined ? [] : withRoom.filter(({ route }) => need.prefer!.includes(route.id))
  if (preferred.length > 0) return preferred
  const first = Math.min(...withRoom.map(({ route }) => route.priority))
  return withRoom.filter(({ route }) => route.priority === first)
}

/**
 * Healthy routes that have what the call reads. While there is none, healthy ones that may have it: a node that claims to be a little ahead
 * must not take the reads of the newest block from all others and then fail them. The last route is never shut out: better a call that may
 * fail than one that surely does.
 */
function bestOf(
  usable: readonly Candidate[],
  need: Need,
  lagOf: LagOf,
  isHealthy: (candidate: Candidate) => boolean,
): readonly Candidate[] {
  const lags = need.tip ? usable.map(candidate => ({ candidate, lag: lagOf(candidate) })) : null
  const current =
    lags === null ? usable : lags.flatMap(({ candidate, lag }) => (lag === 'none' ? [candidate] : []))
  const fresh = freshest(current, need)
  const healthy = fresh.filter(isHealthy)
  if (healthy.length > 0 || lags === null) return healthy.length > 0 ? healthy : fresh
  const doubtful = lags.flatMap(({ candidate, lag }) =>
    lag === 'doubtful' && isHealthy(candidate) ? [candidate] : [],
  )
  return doubtful.length > 0 ? doubtful : fresh
}

/** Of current routes those that have come to the block which the call reads; where none is known to, all. */
function freshest(current: readonly Candidate[], { atLeast, scale }: Need): readonly Candidate[] {
  const reached = atLeast === null ? current : current.filter(({ live }) => live.hasReached(atLeast, scale))
  return reached.length > 0 ? reached : current
}

function isHealthy(live: LiveRoute, { mayProbe }: Need, caller: string | undefined, now: number): boolean {
  const state = live.breaker.state(now, caller)
  if (state === 'open' || (state === 'half-open' && !mayProbe)) return false
  return (
    live.identified && !live.syncing && !live.pauses.isActive(now, caller) && !live.isHanging(now, caller)
  )
}

/** Two random choices by weight, and of those the one with less work before it. */
function better(candidates: readonly Candidate[], random: () => number): Candidate {
  if (candidates.length === 1) return candidates[0]!
  const a = draw(candidates, random)
  const b = draw(candidates, random)
  return load(b) < load(a) ? b : a
}

function draw(candidates: readonly Candidate[], random: () => number): Candidate {
  let left = random() * candidates.reduce((sum, { route }) => sum + route.weight, 0)
  for (const candidate of candidates) {
    left -= candidate.route.weight
    if (left < 0) return candidate
  }
  return candidates.at(-1)!
}

/** Expected latency × calls in flight: idle routes share by weight alone. */
function load({ live }: Candidate): number {
  return live.latency.average * live.limits.inFlight
}

/** Retries allowed: a share of recent calls, and some in any case. */
const SHARE = 0.2
const PER_SECOND = 10
/** Seconds that count as recent. */
const WINDOW = 10

interface Counts {
  calls: number
  retries: number
  /** Those of the retries that came from the pool. */
  pooled: number
}

interface Second {
  readonly at: number
  /** When its first call came, in milliseconds. */
  readonly since: number
  pooled: number
  readonly callers: Map<string, Counts>
}

/** The last seconds of one network. Times are in milliseconds of a monotonic clock. */
export class RetryBudget {
  readonly #seconds: Second[] = []

  /** Counts a client's call. */
  call(caller: string, now: number): void {
    countsOf(this.#second(now), caller).calls += 1
  }

  /** Takes one retry of a caller's call; false when the budget is spent. */
  take(caller: string, now: number): boolean {
    const second = this.#second(now)
    const counts = countsOf(second, caller)
    const own = { calls: 0, retries: 0, pooled: 0 }
    let pooled = 0
    for (const each of this.#seconds) {
      const { calls = 0, retries = 0, pooled: drawn = 0 } = each.callers.get(caller) ?? {}
      own.calls += calls
      own.retries += retries
      own.pooled += drawn
      pooled += each.pooled
    }
    if (own.retries - own.pooled >= Math.floor(own.calls * SHARE)) {
      // In a burst after quiet only the seconds that were really there may be spent.
      const pool = PER_SECOND * Math.max(1, (now - (this.#seconds[0]?.since ?? now)) / 1000)
      if (pooled >= pool || own.pooled >= pool / 2) return false
      second.pooled += 1
      counts.pooled += 1
    }
    counts.retries += 1
    return true
  }

  #second(now: number): Second {
    const at = Math.floor(now / 1000)
    while (this.#seconds[0] !== undefined && this.#seconds[0].at <= at - WINDOW) this.#seconds.shift()
    const last = this.#seconds.at(-1)
    if (last?.at === at) return last
    const fresh = { at, since: now, pooled: 0, callers: new Map<string, Counts>() }
    this.#seconds.push(fresh)
    return fresh
  }
}

function countsOf({ callers }: Second, caller: string): Counts {
  let counts = callers.get(caller)
  if (counts === undefined) callers.set(caller, (counts = { calls: 0, retries: 0, pooled: 0 }))
  return counts
}

/** Pairs of route and method remembered, and milliseconds after which a route is asked again. */
const KEPT = 10_000
const LIVES = 600_000

const NONE: readonly string[] = []

/** What routes lack. */
export class Unsupported {
  readonly #known = new BoundedCache<true>(KEPT, { ttl: LIVES })

  /** A route said that it does not have a method. */
  learn(route: string, method: string): void {
    this.#known.set(`${route} ${method}`, true)
  }

  /** Those of the routes that are known to lack the method. */
  among(routes: readonly string[], method: string): readonly string[] {
    if (this.#known.size === 0) return NONE
    const lacking = routes.filter(route => this.#known.has(`${route} ${method}`))
    return lacking.length === 0 ? NONE : lacking
  }

  /** Forgets everything: an edit may have put other upstreams behind the same names. */
  clear(): void {
    this.#known.clear()
  }
}
