/** The route for the next attempt of a call. */
import type { Route } from '../snapshot/types.ts'
import type { LiveRoute } from './live-route.ts'
import type { HeightKind } from '../families/height-kind.ts'
import type { Lag } from './heads.ts'

/** A route together with its live state. */
export interface Candidate {
  readonly route: Route
  readonly live: LiveRoute
}

/** Candidates among whom picks are made again and again. */
export interface Able {
  readonly all: readonly Candidate[]
  /** Those of the first priority, and their weights together. */
  readonly first: readonly Candidate[]
  readonly weight: number
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
  readonly scale?: HeightKind
  /** Routes that come before all others, whatever their priority, as long as they can serve it. */
  readonly prefer?: readonly string[]
}

/** Says whether a route is behind the others. */
export type LagOf = (candidate: Candidate) => Lag

/** The chosen route; `full` when all that could serve are at the operator's limits; `none` when none can. */
export type Picked = Candidate | 'full' | 'none'

/** Between whom the next attempt is decided; or as for `Picked`. */
export type Contenders = readonly Candidate[] | 'full' | 'none'

export function ableOf(all: readonly Candidate[]): Able {
  const first = firstOf(all)
  return { all, first, weight: weightOf(first) }
}

/**
 * Picks among able routes that this call has not tried yet. `caller` is whose call it is: what only its own calls have suffered keeps
 * only them away. `now` in milliseconds of a monotonic clock.
 */
export function pick(
  able: Able,
  need: Need,
  lagOf: LagOf,
  caller: string,
  now: number,
  random = Math.random,
): Picked {
  const lucky = pickSound(
    able,
    need,
    candidate => isSound(candidate, need, lagOf, caller, now),
    caller,
    random,
  )
  const choice = lucky ?? contenders(able.all, need, lagOf, caller, now)
  if (typeof choice === 'string') return choice
  const chosen = 'live' in choice ? choice : better(choice, weightOf(choice), caller, random)
  if (chosen.live.breaker.state(now, caller) === 'half-open') chosen.live.breaker.beginTest(now, caller)
  return chosen
}

/**
 * Draws from the first priority without a look at the others. A sound route of it is a contender for sure, so where both draws are sound, they are
 * what draws from the contenders would be; else null. With ten routes a look at all of them takes a tenth of a call (bench/scale.ts).
 */
function pickSound(
  { first, weight }: Able,
  { prefer }: Need,
  isSound: (candidate: Candidate) => boolean,
  caller: string,
  random: () => number,
): Candidate | null {
  if (first.length === 0 || (prefer !== undefined && prefer.length > 0)) return null
  const a = draw(first, weight, random)
  if (!isSound(a)) return null
  const b = draw(first, weight, random)
  return isSound(b) ? lighter(a, b, caller) : null
}

/** Whether nothing speaks against a route. */
function isSound(
  candidate: Candidate,
  need: Need,
  lagOf: LagOf,
  caller: string | undefined,
  now: number,
): boolean {
  const { live } = candidate
  if (live.fault !== null || live.pauses.isBinding(now, caller)) return false
  if (need.tip && lagOf(candidate) !== 'none') return false
  return (
    hasWhatItReads(live, need, now) && isHealthy(live, need, caller, now) && live.limits.fits(now, caller)
  )
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
  const choice = bestOf(usable, need, lagOf, now, ({ live }) => isHealthy(live, need, caller, now))
  if (choice.length === 0) return 'none'
  const withRoom = choice.filter(({ live }) => live.limits.fits(now, caller))
  if (withRoom.length === 0) return 'full'
  const preferred =
    need.prefer === undefined ? [] : withRoom.filter(({ route }) => need.prefer!.includes(route.id))
  if (preferred.length > 0) return preferred
  return firstOf(withRoom)
}

/** Those of the first priority. */
function firstOf(candidates: readonly Candidate[]): readonly Candidate[] {
  const first = Math.min(...candidates.map(({ route }) => route.priority))
  return candidates.filter(({ route }) => route.priority === first)
}

function weightOf(candidates: readonly Candidate[]): number {
  return candidates.reduce((sum, { route }) => sum + route.weight, 0)
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
  now: number,
  isHealthy: (candidate: Candidate) => boolean,
): readonly Candidate[] {
  const lags = need.tip ? usable.map(candidate => ({ candidate, lag: lagOf(candidate) })) : null
  const current =
    lags === null ? usable : lags.flatMap(({ candidate, lag }) => (lag === 'none' ? [candidate] : []))
  const fresh = freshest(current, need, now)
  const healthy = fresh.filter(isHealthy)
  if (healthy.length > 0 || lags === null) return healthy.length > 0 ? healthy : fresh
  const doubtful = lags.flatMap(({ candidate, lag }) =>
    lag === 'doubtful' && isHealthy(candidate) ? [candidate] : [],
  )
  return doubtful.length > 0 ? doubtful : fresh
}

/** Of current routes those that have come to the block which the call reads; where none is known to, all. */
function freshest(current: readonly Candidate[], need: Need, now: number): readonly Candidate[] {
  if (need.atLeast === null) return current
  const reached = current.filter(({ live }) => hasWhatItReads(live, need, now))
  return reached.length > 0 ? reached : current
}

/** Whether a route is known to have come to the block that a call reads. */
export function hasWhatItReads(
  live: LiveRoute,
  { atLeast, scale = 'head' }: Pick<Need, 'atLeast' | 'scale'>,
  now: number,
): boolean {
  return atLeast === null || live.hasReached(atLeast, scale, now)
}

/** Why a call with that need passes over a route against which nothing else speaks; null when it does not. */
export function whyWaits(live: LiveRoute, need: Need, now: number): string | null {
  if (!live.identified) return 'its chain has not been checked yet'
  if (!live.limits.fits(now)) return 'it is at its limits'
  if (!need.mayProbe && live.breaker.state(now) === 'half-open')
    return 'it failed, and waits for a call that may be retried'
  return hasWhatItReads(live, need, now) ? null : `it is behind block ${need.atLeast}`
}

/** Whether nothing is known to be wrong with a route, for `caller` or for anybody. */
export function isHealthy(
  live: LiveRoute,
  { mayProbe }: Pick<Need, 'mayProbe'>,
  caller: string | undefined,
  now: number,
): boolean {
  const state = live.breaker.state(now, caller)
  if (state === 'open' || (state === 'half-open' && !mayProbe)) return false
  return (
    live.identified && !live.syncing && !live.pauses.isActive(now, caller) && !live.isHanging(now, caller)
  )
}

/** Two random choices by weight, and of those the one with less work before it. */
function better(
  candidates: readonly Candidate[],
  weight: number,
  caller: string,
  random: () => number,
): Candidate {
  return lighter(draw(candidates, weight, random), draw(candidates, weight, random), caller)
}

function lighter(a: Candidate, b: Candidate, caller: string): Candidate {
  return a !== b && load(b, caller) < load(a, caller) ? b : a
}

/** One of candidates by weight; `weight` is that of all. */
function draw(candidates: readonly Candidate[], weight: number, random: () => number): Candidate {
  if (candidates.length === 1) return candidates[0]!
  let left = random() * weight
  for (const candidate of candidates) {
    left -= candidate.route.weight
    if (left < 0) return candidate
  }
  return candidates.at(-1)!
}

/** Expected latency × calls in flight: idle routes share by weight alone. */
function load({ live }: Candidate, caller: string): number {
  const { inFlight } = live.limits
  return inFlight === 0 ? 0 : live.latency.of(caller).average * inFlight
}
