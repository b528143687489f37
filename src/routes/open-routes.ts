/** Opens the routes that a snapshot names, and keeps those that are open and still the same. */
import { createHash } from 'node:crypto'
import { familyOf } from '../families/families.ts'
import type { Network, Route, Snapshot } from '../snapshot/types.ts'
import type { PauseReport } from './health/route-pauses.ts'
import { LiveRoute } from './live-route.ts'
import type { RouteSharing } from './route-limits.ts'

/** One route that is open. */
export interface Entry {
  /** Hash of everything that makes it this way to this upstream: a change of it is another live route. */
  readonly definition: string
  readonly route: Route
  readonly live: LiveRoute
}

/** Routes that are open and do not serve yet. */
export interface Opened {
  readonly entries: Map<string, Entry>
  readonly slugs: ReadonlySet<string>
}

/** Hears what calls find out about routes. */
export interface RouteListener {
  /** A probe could say more of it: calls of one caller speak against it, or wait for a block of it. */
  unsure(live: LiveRoute): void
  /** Its upstream wants it to be left alone. */
  paused(live: LiveRoute, pause: PauseReport): void
}

/** Opens what the snapshot names and is not open yet, one route a step. */
export function* openRoutes(
  { networks, gateway }: Snapshot,
  open: ReadonlyMap<string, Entry>,
  listener: RouteListener,
  sharing: RouteSharing,
): Generator<void, Opened> {
  const { connect } = gateway.timeouts
  const entries = new Map<string, Entry>()
  for (const network of Object.values(networks))
    for (const route of network.routes) {
      const definition = definitionOf(route, network, connect)
      const current = open.get(route.id)
      const live =
        current?.definition === definition
          ? current.live
          : openRoute(route, network, connect, listener, sharing)
      entries.set(route.id, { definition, route, live })
      yield
    }
  return { entries, slugs: new Set(Object.keys(networks)) }
}

function openRoute(
  route: Route,
  network: Network,
  connect: number,
  listener: RouteListener,
  sharing: RouteSharing,
): LiveRoute {
  const unsure = (one: LiveRoute): void => {
    listener.unsure(one)
  }
  const family = familyOf(network)
  const live = new LiveRoute(route, connect, network.family, unsure, sharing, family.question(network))
  live.pauses.whenBegun(pause => {
    listener.paused(live, pause)
  })
  return live
}

/** What identifies the chain belongs to it: a route that was found to be wrong may be right for another one. */
function definitionOf(
  { network, http, headers, limits, batch }: Route,
  chain: Network,
  connect: number,
): string {
  const known = [chain.family, chain.chainId, chain.genesisHash, chain.head, chain.identity]
  const definition = JSON.stringify({ network, known, http, headers, limits, connect, batch })
  return createHash('sha256').update(definition).digest('base64url')
}
