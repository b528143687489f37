/** In which order able routes are tried: healthy before not, then by priority, then by weighted chance. */
import type { Route } from '../snapshot/types.ts'
import type { LiveRoute } from './live-route.ts'

/** A route together with its live state. */
export interface Candidate {
  readonly route: Pick<Route, 'id' | 'priority' | 'weight' | 'timeout'>
  readonly live: Pick<LiveRoute, 'breaker' | 'inFlight'>
}

/** Sorts candidates for one call; the unhealthy come last, so that the last route is never shut out. */
export function inOrder<T extends Candidate>(
  candidates: readonly T[],
  now: number,
  random = Math.random,
): T[] {
  if (candidates.length < 2) return [...candidates]
  return candidates
    .map(candidate => ({
      candidate,
      shutOut: candidate.live.breaker.allows(now) ? 0 : 1,
      // An exponential draw by weight: the smallest is first with the chance that its share says.
      draw: -Math.log(1 - random()) / candidate.route.weight,
    }))
    .sort(
      (a, b) =>
        a.shutOut - b.shutOut || a.candidate.route.priority - b.candidate.route.priority || a.draw - b.draw,
    )
    .map(({ candidate }) => candidate)
}
