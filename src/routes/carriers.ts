/** Which route carries a subscription. */
import type { Route } from '../snapshot/types.ts'
import type { Lag } from './heads.ts'
import type { Candidate, LagOf } from './pick.ts'

/** What speaks against carrying subscriptions over a route that is behind, or that calls keep away from. */
const AGAINST: Readonly<Record<Lag, number>> = { none: 0, doubtful: 1, certain: 2 }

/**
 * Routes to carry a subscription, best first: those against which least speaks, then by priority. `trouble` says what speaks against
 * the sockets of a route; a route that calls keep away from has 2. None is left out: the last one is better than none.
 */
export function carriersAmong(
  candidates: readonly Candidate[],
  lagOf: LagOf,
  trouble: (id: string) => number,
  now: number,
): Route[] {
  const able = candidates.filter(({ live }) => live.fault === null)
  const against = (candidate: Candidate): number =>
    trouble(candidate.live.id) +
    (candidate.live.whyNot(now) === null ? AGAINST[lagOf(candidate)] : AGAINST.certain)
  return able
    .sort((a, b) => against(a) - against(b) || a.route.priority - b.route.priority)
    .map(({ route }) => route)
}
