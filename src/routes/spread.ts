/** Further routes for a transaction that goes to several upstreams at once. */
import { ableOf, isHealthy, pick } from './pick.ts'
import type { Candidate, LagOf, Need } from './pick.ts'
import type { Network } from '../snapshot/types.ts'

/** A call as far as that decides which routes it may go to. */
export interface Spread {
  readonly network: Network
  /** Ids of the routes that may serve it. */
  readonly routes: readonly string[]
  readonly need: Need
  readonly caller: string
}

/**
 * Picks up to `most` routes beside `first`, each to another upstream, whatever their priority; the lower ones come first. All of them are
 * well: a transaction is no way to try out a route that failed, or one that is behind.
 */
export function spread(
  first: Candidate,
  able: readonly Candidate[],
  { need, caller }: Pick<Spread, 'need' | 'caller'>,
  lagOf: LagOf,
  now: number,
  most: number,
): Candidate[] {
  const upstreams = new Set([upstreamOf(first)])
  const chosen: Candidate[] = []
  let left = able.filter(candidate => {
    const { live } = candidate
    const isWell = live.fault === null && isHealthy(live, { mayProbe: false }, caller, now)
    return isWell && (!need.tip || lagOf(candidate) === 'none')
  })
  while (chosen.length < most) {
    left = left.filter(candidate => !upstreams.has(upstreamOf(candidate)))
    const next = pick(ableOf(left), need, lagOf, caller, now)
    if (typeof next === 'string') break
    chosen.push(next)
    upstreams.add(upstreamOf(next))
  }
  return chosen
}

/** Host and port: two keys with one provider are one upstream. */
function upstreamOf({ route }: Candidate): string {
  return new URL(route.http).host
}
