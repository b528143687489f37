/** What `/status` tells of all workers together. */
import type { NetworkState, RouteState } from '../../routes/network-state.ts'
import type { WorkerState } from './messages.ts'

/** How the worker at a place is. */
export interface Placed {
  readonly slot: number
  readonly told: WorkerState
}

/**
 * A network as the keeper's probes and the workers' calls see it: a route counts as healthy where every worker sends calls to it, and its calls in
 * flight are those of all.
 */
export function wholeState(own: NetworkState, workers: readonly Placed[]): NetworkState {
  const seen = workers.flatMap(({ slot, told }) => {
    const network = told.networks.find(({ slug }) => slug === own.slug)
    return network === undefined ? [] : [{ slot, network }]
  })
  // A keeper that has just taken over has probed nothing yet: its workers know heads from the one before.
  const { head, headConfirmed } = [own, ...seen.map(({ network }) => network)].find(hasHead) ?? own
  return {
    ...own,
    head,
    ...(headConfirmed === undefined ? {} : { headConfirmed }),
    routes: own.routes.map(route => wholeRoute(route, seen)),
  }
}

function hasHead({ head }: { readonly head: number | null }): boolean {
  return head !== null
}

interface Seen {
  readonly slot: number
  readonly network: NetworkState
}

function wholeRoute(own: RouteState, seen: readonly Seen[]): RouteState {
  const others = seen.flatMap(({ slot, network }) => {
    const route = network.routes.find(({ id }) => id === own.id)
    return route === undefined ? [] : [{ slot, route }]
  })
  const ill = own.healthy ? others.find(({ route }) => !route.healthy) : undefined
  const busy = others.filter(({ route }) => route.latencyMs > 0)
  const sum = (of: (route: RouteState) => number): number =>
    others.reduce((total, { route }) => total + of(route), 0)
  const kept = Math.max(0, ...others.map(({ route }) => route.keptAwayCallers ?? 0))
  // Each worker is held to its own part.
  const heldTo = sum(({ heldToPerSecond = 0 }) => heldToPerSecond)
  const unsupported = [...new Set(others.flatMap(({ route }) => route.unsupported ?? []))].sort()
  const refusesBatches =
    own.refusesBatches ?? others.find(({ route }) => route.refusesBatches !== undefined)?.route.refusesBatches
  const lastError =
    own.lastError ?? others.find(({ route }) => route.lastError !== undefined)?.route.lastError
  const { head, lag, claimedHead } = [own, ...others.map(({ route }) => route)].find(hasHead) ?? own
  return {
    ...own,
    head,
    lag,
    ...(claimedHead === undefined ? {} : { claimedHead }),
    ...(ill === undefined
      ? {}
      : {
          healthy: false,
          why: `${ill.route.why ?? 'not healthy'} (at worker ${ill.slot})`,
          ...(ill.route.retryInMs === undefined ? {} : { retryInMs: ill.route.retryInMs }),
        }),
    ...(kept === 0 ? {} : { keptAwayCallers: kept }),
    inFlight: own.inFlight + sum(({ inFlight }) => inFlight),
    ...(heldTo === 0 ? {} : { heldToPerSecond: Math.round(heldTo * 10) / 10 }),
    latencyMs:
      busy.length === 0 ? own.latencyMs : Math.round(sum(({ latencyMs }) => latencyMs) / busy.length),
    ...(unsupported.length === 0 ? {} : { unsupported }),
    ...(refusesBatches === undefined ? {} : { refusesBatches }),
    ...(lastError === undefined ? {} : { lastError }),
  }
}
