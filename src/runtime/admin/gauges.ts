/** What a process has at the moment of a scrape. */
import type { Gateway } from '../../call/gateway.ts'
import type { Metrics } from '../../observe/metrics.ts'
import type { PublicListener } from '../../http/public-listener.ts'
import type { LiveRoute } from '../../routes/live-route.ts'
import type { Network } from '../../snapshot/types.ts'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** Adds the gauges of routes. */
export function registerRoutes(gateway: Gateway, metrics: Metrics): void {
  const { live } = gateway
  const routes = function* (
    read: (network: Network, route: LiveRoute) => number | null,
  ): Generator<[string[], number]> {
    for (const network of Object.values(gateway.snapshot.networks))
      for (const route of live.upstreams.of(network)) {
        const value = read(network, route)
        if (value !== null) yield [[network.slug, route.id], value]
      }
  }
  const labels = ['network', 'route']
  metrics.gauge('tollgate_route_healthy', 'Whether calls may go to the route', labels, () =>
    routes((network, { id }) =>
      live.upstreams.whyUnhealthy(network, id, live.clock.monotonic(), true) === null ? 1 : 0,
    ),
  )
  metrics.gauge('tollgate_route_in_flight', 'Calls in flight on the route', labels, () =>
    routes((_, { limits }) => limits.inFlight),
  )
  metrics.gauge('tollgate_route_head', 'Last block or slot that the route told', labels, () =>
    routes((_, { head }) => head),
  )
  metrics.gauge(
    'tollgate_route_pace',
    'Calls a second that the route is held to after HTTP 429; absent while it is not',
    labels,
    () => routes((_, { limits }) => limits.pace.at(live.clock.monotonic())),
  )
  metrics.gauge(
    'tollgate_route_unsupported_methods',
    'Methods that the route answered not to have in the last ten minutes',
    labels,
    () => routes((_, { id }) => live.upstreams.unsupported.of(id, live.clock.monotonic()).length),
  )
  metrics.gauge('tollgate_network_final', 'Newest final block or slot', ['network'], function* () {
    for (const slug of Object.keys(gateway.snapshot.networks)) {
      const final = live.heads.finality.of(slug)
      if (final !== null) yield [[slug], final]
    }
  })
  metrics.gauge('tollgate_route_lag_blocks', 'Blocks behind the best healthy head', labels, () =>
    routes(({ slug }, { head }) => {
      const best = live.heads.best(slug)
      return head === null || best === null ? null : Math.max(0, best - head)
    }),
  )
}

/** Adds the gauges of clients, and of what is held for them. */
export function registerClients(
  gateway: Gateway,
  metrics: Metrics,
  { sockets, streams, memory }: Pick<PublicListener, 'sockets' | 'streams' | 'memory'>,
): void {
  const { live } = gateway
  metrics.gauge('tollgate_memory_held_bytes', 'Bytes held for clients', [], () => [[[], memory.held]])
  metrics.gauge('tollgate_memory_limit_bytes', 'Bytes that may be held (limits.memory)', [], () => [
    [[], memory.limit],
  ])
  const byNetwork = (count: (slug: string) => number) =>
    function* (): Generator<[string[], number]> {
      for (const slug of Object.keys(gateway.snapshot.networks)) yield [[slug], count(slug)]
    }
  metrics.gauge(
    'tollgate_ws_connections',
    'Open client sockets',
    ['network'],
    byNetwork(slug => sockets.count(slug)),
  )
  metrics.gauge(
    'tollgate_http_streams',
    'Open event streams',
    ['network'],
    byNetwork(slug => streams.count(slug)),
  )
  metrics.gauge('tollgate_ws_subscriptions', 'Subscriptions by side', ['network', 'side'], function* () {
    const upstream = live.subscriptions.count()
    for (const slug of Object.keys(gateway.snapshot.networks)) {
      yield [[slug, 'client'], sockets.subscriptions(slug)]
      yield [[slug, 'upstream'], upstream.get(slug) ?? 0]
    }
  })
}

/** Databases with their logs: journals of workers have a name of their own for each life. */
const DATABASE = /^(accounts|journal(?:-\d+)?)(?:-[0-9a-f]+)?\.db(?:-wal)?$/

/** Adds the sizes of the databases, once for a data directory. */
export function registerDatabases(dataDir: string, metrics: Metrics): void {
  metrics.gauge('tollgate_database_bytes', 'Size of a database with its write-ahead log', ['database'], () =>
    [...sizes(dataDir)].map(([name, bytes]) => [[name], bytes] as const),
  )
}

/** Adds what of usage waits to be taken over into the ledger: of each process that charges calls. */
export function registerBacklog(metrics: Metrics, backlog: () => number): void {
  metrics.gauge(
    'tollgate_journal_backlog_rows',
    'Rows of usage that are in a journal and not yet in the ledger',
    [],
    () => [[[], backlog()]],
  )
}

function sizes(dataDir: string): ReadonlyMap<string, number> {
  const found = new Map<string, number>()
  for (const file of filesOf(dataDir)) {
    const [, name] = DATABASE.exec(file) ?? []
    if (name === undefined) continue
    // A journal may be removed at this moment.
    const size = statSync(join(dataDir, file), { throwIfNoEntry: false })?.size ?? 0
    found.set(name, (found.get(name) ?? 0) + size)
  }
  return found
}

/** None where the directory cannot be read: a gauge fails neither a scrape nor a stop. */
function filesOf(dataDir: string): readonly string[] {
  try {
    return readdirSync(dataDir)
  } catch {
    return []
  }
}
