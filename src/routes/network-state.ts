/** How a network and its routes are now, as `/status` of the admin listener tells it. */
import type { Clock } from '../ports/clock.ts'
import type { Network } from '../snapshot/types.ts'
import type { Heads } from './heads.ts'
import type { Upstreams } from './upstreams.ts'

/** How one route is. */
export interface RouteState {
  readonly id: string
  readonly healthy: boolean
  /** Why calls keep away from it, as a sentence for the operator. */
  readonly why?: string
  readonly retryInMs?: number
  /** Callers whose own calls speak against the route; others are served by it. */
  readonly keptAwayCallers?: number
  readonly head: number | null
  readonly lag: number | null
  readonly claimedHead?: number
  readonly latencyMs: number
  readonly inFlight: number
  /** Calls a second that it is held to after an HTTP 429. */
  readonly heldToPerSecond?: number
  /** Calls of a client's batch that go to it in one body, where it may be sent several. */
  readonly batch?: number
  /** Why they go one by one for now. */
  readonly refusesBatches?: string
  readonly capabilities: readonly string[]
  /** Methods that it answered not to have, in the last ten minutes and to one caller at least. */
  readonly unsupported?: readonly string[]
  readonly lastError?: string
}

/** How one network is. */
export interface NetworkState {
  readonly slug: string
  readonly head: number | null
  /** Whether that is more than one route's word. */
  readonly headConfirmed?: boolean
  readonly routes: readonly RouteState[]
}

/** What is known of routes in this process. */
export interface Known {
  readonly heads: Pick<Heads, 'best' | 'isConfirmed'>
  readonly upstreams: Upstreams
  readonly clock: Clock
}

/** The state of one network. */
export function networkState(network: Network, { heads, upstreams, clock }: Known): NetworkState {
  const best = heads.best(network.slug)
  const routes = network.routes.map(({ id, capabilities, ws, batch }) => {
    const route = upstreams.get(id)
    const now = clock.monotonic()
    const why = upstreams.whyUnhealthy(network, id, now, true) ?? route?.whyDown(now, true) ?? null
    const head = route?.head ?? null
    const claimed = route?.claimed ?? null
    const retryInMs = Math.ceil(route?.retryIn(now) ?? 0)
    const heldTo = route?.limits.pace.state(now) ?? null
    const refusesBatches = route?.batching.refusal(now) ?? null
    const unsupported = upstreams.unsupported.of(id, now)
    const keptAway = (route?.breaker.keptAway(now) ?? 0) + (route?.pauses.keptAway(now) ?? 0)
    return {
      id,
      healthy: why === null,
      ...(why === null ? {} : { why }),
      ...(retryInMs === 0 ? {} : { retryInMs }),
      ...(keptAway === 0 ? {} : { keptAwayCallers: keptAway }),
      head,
      lag: best === null || head === null ? null : best - head,
      ...(claimed === null || claimed === head ? {} : { claimedHead: claimed }),
      latencyMs: Math.round(route?.latency.average ?? 0),
      inFlight: route?.limits.inFlight ?? 0,
      ...(heldTo === null ? {} : { heldToPerSecond: heldTo.perSecond }),
      ...(batch === 1 ? {} : { batch }),
      ...(refusesBatches === null ? {} : { refusesBatches }),
      capabilities: ws === null ? capabilities : [...capabilities, 'ws'],
      ...(unsupported.length === 0 ? {} : { unsupported }),
      ...(route?.breaker.lastError == null ? {} : { lastError: route.breaker.lastError }),
    }
  })
  const headConfirmed = heads.isConfirmed(network.slug)
  return { slug: network.slug, head: best, ...(best === null ? {} : { headConfirmed }), routes }
}
