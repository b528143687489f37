/** Binds the listeners of `serve`, and says how they end. */
import type { Server } from 'node:http'
import type { Closing } from './closing.ts'
import type { ListenAddress } from '../config/types.ts'
import type { Gateway } from '../call/gateway.ts'
import type { Bound } from '../http/admin/running.ts'
import { makeAdminListener, makeProbesListener } from '../http/admin/listener.ts'
import type { AdminRoutes } from '../http/admin/listener.ts'
import { drain, listen } from '../http/listen.ts'
import type { PublicListener } from '../http/public-listener.ts'
import type { Snapshot } from '../snapshot/types.ts'

/** Opens all, those of the operator first: they are closed last. */
export async function openListeners(
  gateway: Gateway,
  { server, sockets, streams }: PublicListener,
  routes: AdminRoutes,
  closing: Closing,
): Promise<Bound> {
  const { listen: listenAt, admin: adminAt, probes: probesAt, timeouts } = gateway.snapshot.gateway
  const settings = (): Snapshot['gateway'] => gateway.snapshot.gateway
  const bug = (error: unknown): void => {
    gateway.live.observer.bug(error, 'admin')
  }
  const open = async (server: Server, at: ListenAddress): Promise<string> => {
    const bound = await listen(server, at)
    closing.push(() =>
      drain(server, {
        idle: () => Promise.resolve(),
        ...{ patience: 0, keepIdle: 0 },
        endCalls: () => undefined,
        cutShort: () => undefined,
      }),
    )
    return bound
  }
  const adminBound = await open(makeAdminListener(routes, settings, bug), adminAt)
  const probesBound = probesAt === null ? null : await open(makeProbesListener(routes, bug), probesAt)
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
  return { listen: bound, admin: adminBound, ...(probesBound === null ? {} : { probes: probesBound }) }
}
