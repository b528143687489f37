/** Binds the listeners of `serve`, and says how they end. */
import type { Closing } from './closing.ts'
import type { Gateway } from './gateway.ts'
import { makeAdminListener } from './server/admin-listener.ts'
import type { AdminRoutes } from './server/admin-listener.ts'
import { drain, listen } from './server/listen.ts'
import type { PublicListener } from './server/public-listener.ts'
import type { Snapshot } from './snapshot/types.ts'

/** Where each listens, as bound. */
export interface Bound {
  readonly listen: string
  readonly admin: string
}

/** Opens all, those of the operator first: they are closed last. */
export async function openListeners(
  gateway: Gateway,
  { server, sockets, streams }: PublicListener,
  routes: AdminRoutes,
  closing: Closing,
): Promise<Bound> {
  const { listen: listenAt, admin: adminAt, timeouts } = gateway.snapshot.gateway
  const settings = (): Snapshot['gateway'] => gateway.snapshot.gateway
  const admin = makeAdminListener(routes, settings, error => {
    gateway.live.observer.bug(error, 'admin')
  })
  const adminBound = await listen(admin, adminAt)
  closing.push(() =>
    drain(admin, {
      idle: () => Promise.resolve(),
      ...{ patience: 0, keepIdle: 0 },
      endCalls: () => undefined,
      cutShort: () => undefined,
    }),
  )
  const bound = await listen(server, listenAt)
  closing.push(async () => {
    const told = Promise.all([sockets.drain(), streams.drain()])
    await drain(server, {
      idle: () => gateway.idle(),
      ...{ patience: timeouts.drain, keepIdle: timeouts.drainIdle },
      endCalls: () => {
        gateway.live.subscriptions.close()
        void gateway.live.upstreams.close()
      },
      cutShort: () => {
        gateway.cutShort()
        sockets.cut()
      },
    })
    await told
  })
  return { listen: bound, admin: adminBound }
}
