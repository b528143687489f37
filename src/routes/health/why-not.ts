/**
 * Why calls keep away from a route, as sentences for the operator. Times are milliseconds of the monotonic clock. What probes have found
 * keeps everybody away. What only calls of several callers say (`suspected`) keeps those away whom the route has not answered.
 */
import type { RouteBreaker } from './route-breaker.ts'
import type { RoutePauses } from './route-pauses.ts'

/** What a route is judged by. */
interface Judged {
  readonly breaker: RouteBreaker
  readonly pauses: RoutePauses
  readonly fault: string | null
  readonly silent: boolean
  readonly syncing: boolean
  readonly slotsBehind: number | null
  isHanging(now: number): boolean
}

/** Why calls keep away from it at `now`; null when they do not. */
export function whyNot(live: Judged, now: number, suspected: boolean): string | null {
  const { breaker, fault, pauses, slotsBehind, syncing } = live
  if (fault !== null) return fault
  if (pauses.isActive(now))
    return pauses.about === 'limited'
      ? 'rate limited by its upstream'
      : "its upstream refuses the operator's key, plan or credit"
  if (syncing)
    return slotsBehind === null
      ? 'its node is syncing'
      : `its node reports that it is ${slotsBehind} slots behind`
  if (breaker.state(now) === 'open' && (suspected || breaker.isConfirmed))
    return `circuit open after failures (last: ${breaker.lastError ?? 'unknown'})`
  return suspected && live.isHanging(now) ? 'requests are hanging' : null
}

/** The same, or why it is not known to serve again though a call may try it: it is down until a call or a probe is answered. */
export function whyUnhealthy(live: Judged, now: number, suspected: boolean): string | null {
  const { breaker } = live
  const why = whyNot(live, now, suspected)
  if (why !== null || !breaker.isUntested(now) || !(suspected || breaker.isConfirmed)) return why
  return `nothing has succeeded since its failures (last: ${breaker.lastError ?? 'unknown'})`
}

/** Why no call can count on it; null while it answers, though it may be syncing. */
export function whyDown(live: Judged, now: number, suspected: boolean): string | null {
  if (live.silent) return `it has not answered yet (last: ${live.breaker.lastError ?? 'no reply'})`
  return live.syncing && live.fault === null ? null : whyNot(live, now, suspected)
}
