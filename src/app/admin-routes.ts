/** What the admin listener answers (design, "Admin listener and metrics"). */
import { answerExplain } from './answer-explain.ts'
import type { ByteBudget } from '../limits/byte-budget.ts'
import type { Gateway } from '../call/gateway.ts'
import type { Metrics } from '../observe/metrics.ts'
import { inTimeSlices } from '../reload/time-slices.ts'
import type { Reloader } from '../reload/reloader.ts'
import type { Running } from '../http/admin/running.ts'
import { servedOf } from '../http/admin/served.ts'
import type { AdminRoutes } from '../http/admin/listener.ts'
import type { ClientSockets } from '../http/websocket/client-sockets.ts'
import type { ClientStreams } from '../http/proxied/client-streams.ts'
import { FileLost } from '../stores/sqlite/place.ts'
import type { LiveRoute } from '../routes/live-route.ts'
import type { Network } from '../snapshot/types.ts'

/** What the routes tell about. */
export interface AdminParts {
  readonly gateway: Gateway
  readonly metrics: Metrics
  readonly sockets: ClientSockets
  readonly streams: ClientStreams
  readonly memory: ByteBudget
  readonly state: { readonly draining: boolean }
  readonly usage: { readonly failure: Error | null }
  /** Why changes of accounts would be lost. */
  readonly accounts: { lost(): Error | null }
  readonly reloader: Reloader
  /** This process, as it is known now. */
  readonly process: () => Running
}

/** The paths of the admin listener. */
export function adminRoutes(parts: AdminParts): AdminRoutes {
  const { gateway, metrics, state, reloader } = parts
  registerGauges(parts)
  return {
    'GET /livez': () => ({ status: 200, text: 'ok\n', type: 'text/plain' }),
    'GET /readyz': () => {
      const why = unready(parts)
      return { status: why === null ? 200 : 503, text: `${why ?? 'ok'}\n`, type: 'text/plain' }
    },
    'GET /process': () => ({ status: 200, json: { ...parts.process(), ...lostFiles(parts) } }),
    'GET /served': () => ({ status: 200, json: servedOf(gateway.snapshot) }),
    'GET /metrics': async () => ({
      status: 200,
      text: await metrics.text(),
      type: metrics.registry.contentType,
    }),
    'GET /status': async () => ({ status: 200, text: await status(parts), type: 'application/json' }),
    'POST /reload': async () => {
      if (state.draining) return { status: 503, json: { error: 'the gateway is draining' } }
      const result = await reloader.reload('request')
      return { status: result.ok ? 200 : 422, json: result }
    },
    'GET /on-disk': async () => ({ status: 200, json: { version: await reloader.onDisk() } }),
    'POST /explain': body => answerExplain(body, gateway),
  }
}

/** Why a balancer should send its calls elsewhere: every one would be refused, or keys that are made now are not known here. */
function unready({ state, usage, accounts }: AdminParts): string | null {
  if (state.draining) return 'draining'
  if (usage.failure !== null) return `journal_unavailable: ${usage.failure.message}`
  const lost = accounts.lost()
  return lost === null ? null : `accounts_unavailable: ${lost.message}`
}

/** What happened to files of the data directory, for commands that would work on others in their place. */
function lostFiles({ usage, accounts }: AdminParts): Pick<Running, 'lost'> {
  const lost = [accounts.lost(), usage.failure].find(error => error instanceof FileLost)
  return lost === undefined ? {} : { lost: lost.fate }
}

/** JSON text, put together with turns for the calls in between: there may be thousands of routes. */
async function status({ gateway, reloader }: AdminParts): Promise<string> {
  const { version, networks } = gateway.snapshot
  const told = await inTimeSlices(
    (function* () {
      const texts: string[] = []
      for (const network of Object.values(networks)) {
        texts.push(JSON.stringify(networkStatus(network, gateway)))
        yield
      }
      return texts
    })(),
  )
  const start = JSON.stringify({ version, reload: reloader.state }).slice(0, -1)
  return `${start},"networks":[${told.join(',')}]}\n`
}

function networkStatus(network: Network, { live }: Gateway): unknown {
  const best = live.heads.best(network.slug)
  const routes = network.routes.map(({ id, capabilities, ws }) => {
    const route = live.upstreams.get(id)
    const now = live.clock.monotonic()
    const why = live.upstreams.whyNot(network, id, now) ?? route?.whyDown(now) ?? null
    const head = route?.head ?? null
    const claimed = route?.claimed ?? null
    const retryInMs = Math.ceil(route?.retryIn(now) ?? 0)
    const keptAway = (route?.breaker.keptAway(now) ?? 0) + (route?.pauses.keptAway(now) ?? 0)
    return {
      ...{ id, healthy: why === null, ...(why === null ? {} : { why }) },
      ...(retryInMs === 0 ? {} : { retryInMs }),
      // Callers whose own calls speak against the route; others are served by it.
      ...(keptAway === 0 ? {} : { keptAwayCallers: keptAway }),
      ...{ head, lag: best === null || head === null ? null : best - head },
      ...(claimed === null || claimed === head ? {} : { claimedHead: claimed }),
      latencyMs: Math.round(route?.latency.average ?? 0),
      inFlight: route?.limits.inFlight ?? 0,
      capabilities: ws === null ? capabilities : [...capabilities, 'ws'],
      ...(route?.breaker.lastError == null ? {} : { lastError: route.breaker.lastError }),
    }
  })
  const headConfirmed = live.heads.isConfirmed(network.slug)
  return { slug: network.slug, head: best, ...(best === null ? {} : { headConfirmed }), routes }
}

function registerGauges({ gateway, metrics, sockets, streams, memory, reloader }: AdminParts): void {
  const { live } = gateway
  metrics.gauge('tollgate_memory_held_bytes', 'Bytes held for clients', [], () => [[[], memory.held]])
  metrics.gauge('tollgate_memory_limit_bytes', 'Bytes that may be held (limits.memory)', [], () => [
    [[], memory.limit],
  ])
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
      live.upstreams.whyNot(network, id, live.clock.monotonic()) === null ? 1 : 0,
    ),
  )
  metrics.gauge('tollgate_route_in_flight', 'Calls in flight on the route', labels, () =>
    routes((_, { limits }) => limits.inFlight),
  )
  metrics.gauge('tollgate_route_head', 'Last block or slot that the route told', labels, () =>
    routes((_, { head }) => head),
  )
  metrics.gauge('tollgate_route_lag_blocks', 'Blocks behind the best healthy head', labels, () =>
    routes(({ slug }, { head }) => {
      const best = live.heads.best(slug)
      return head === null || best === null ? null : Math.max(0, best - head)
    }),
  )
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
  metrics.gauge('tollgate_config_info', 'The configuration served with', ['version'], () => [
    [[gateway.snapshot.version], 1],
  ])
  metrics.gauge('tollgate_config_last_reload_successful', 'Whether the last reload was taken', [], () => [
    [[], reloader.state.ok ? 1 : 0],
  ])
  metrics.gauge(
    'tollgate_config_last_reload_success_timestamp_seconds',
    'When the configuration was last loaded and found valid, changed or not: the start, or a successful reload',
    [],
    () => [[[], reloader.succeededAt]],
  )
}
