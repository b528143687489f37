/** Binds the listeners of `serve`, and says how they end. */
import type { Server } from 'node:http'
import type { Closing } from './closing.ts'
import type { Gateway } from '../call/gateway.ts'
import type { Bound } from '../http/admin/running.ts'
import type { AdminNames } from '../http/admin/access.ts'
import { makeAdminListener, makeProbesListener } from '../http/admin/listener.ts'
import type { AdminRoutes, Api } from '../http/admin/listener.ts'
import { watchConnections } from '../http/connections/idle.ts'
import type { PassOn } from '../http/connections/passed-on.ts'
import { drain, listen } from '../http/listen.ts'
import type { ListenAt } from '../http/listen.ts'
import type { PublicListener } from '../http/public-listener.ts'
import type { Observer } from '../ports/observer.ts'
import type { Leaving } from './workers/parent.ts'

/** Milliseconds between looks for calls whose callers were denied meanwhile. */
const LOOK_FOR_DENIED = 250

/** Where the operator's listeners are. */
export interface AdminAt {
  readonly admin: ListenAt
  readonly probes: ListenAt | null
}

/** What the operator's listeners know of a gateway. */
interface Administered {
  readonly snapshot: { readonly gateway: AdminNames }
  readonly live: { readonly observer: Pick<Observer, 'bug'> }
}

/** Opens the listeners of the operator. */
export async function openAdmin(
  gateway: Administered,
  { routes, api }: { readonly routes: AdminRoutes; readonly api: Api },
  { admin: adminAt, probes: probesAt }: AdminAt,
  closing: Closing,
): Promise<Pick<Bound, 'admin' | 'probes'>> {
  const settings = (): AdminNames => gateway.snapshot.gateway
  const bug = (error: unknown): void => {
    gateway.live.observer.bug(error, 'admin')
  }
  const open = async (server: Server, at: ListenAt): Promise<string> => {
    const bound = await listen(server, at)
    closing.push(() =>
      drain(server, {
        idle: () => Promise.resolve(),
        // Idle connections end at once; a scrape under way gets the time of the last bytes.
        patience: 1,
        keepIdle: 0,
        takesLast: false,
        passOn: null,
        endCalls: () => undefined,
        cutShort: () => undefined,
      }),
    )
    return bound
  }
  const admin = await open(makeAdminListener(routes, api, settings, bug), adminAt)
  const probes = probesAt === null ? null : await open(makeProbesListener(routes, bug), probesAt)
  return { admin, ...(probes === null ? {} : { probes }) }
}

/** How a public listener is to end; said before it is closed. */
export interface PublicDrain {
  leaving?: Leaving
  /** Milliseconds to close WebSockets over, at most. */
  spread?: number | undefined
  /** Gives a connection on which nothing is in flight to another process; null where nobody takes them. */
  passOn?: PassOn | null
}

/**
 * Opens the listener of the clients; behind those of the operator, as it is closed before them. `at` is null where another process accepts their
 * connections.
 */
export async function openPublic(
  gateway: Gateway,
  { server, sockets, streams }: Pick<PublicListener, 'server' | 'sockets' | 'streams'>,
  at: ListenAt | null,
  closing: Closing,
  how: PublicDrain = {},
): Promise<string> {
  const { timeouts } = gateway.snapshot.gateway
  const bound = at === null ? watchHandedOver(server) : await listen(server, at)
  const looking = setInterval(() => {
    gateway.endDenied()
  }, LOOK_FOR_DENIED).unref()
  closing.push(async () => {
    clearInterval(looking)
    const { leaving = 'with all', spread, passOn = null } = how
    const isLast = leaving === 'with all'
    const drained = Promise.all([sockets.drain(spread, isLast, timeouts.drain), streams.drain(isLast)])
    await drain(server, {
      idle: () => sockets.gone().then(() => gateway.idle()),
      patience: timeouts.drain,
      keepIdle: leaving === 'orphaned' ? 0 : timeouts.drainIdle,
      takesLast: leaving === 'with all' && at !== null,
      passOn,
      endCalls: () => {
        gateway.live.subscriptions.close()
        void gateway.live.upstreams.close()
      },
      cutShort: () => {
        gateway.cutShort()
        sockets.cut()
      },
    })
    await drained
  })
  return bound
}

function watchHandedOver(server: Server): string {
  watchConnections(server)
  return ''
}
