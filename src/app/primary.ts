/** The composition of the primary of a gateway with several processes: it reads which, and binds the sockets that they serve on. */
import type { GatewayConfig, ListenAddress } from '../config/types.ts'
import type { Bound } from '../http/admin/running.ts'
import type { Logger } from '../observe/log.ts'
import { openListeningSocket } from '../workers/listening-socket.ts'
import type { ListeningSocket } from '../workers/listening-socket.ts'
import { Primary } from '../workers/primary.ts'
import type { Sockets } from '../workers/primary.ts'
import { refuseServed } from './begin.ts'
import type { AppOptions } from './begin.ts'

/** A gateway of several processes, as the one sees it that was started. */
export interface RunningPrimary {
  readonly bound: Bound
  readonly log: Logger
  /** The keeper has told of them. */
  readonly warnings: readonly []
  reload(): void
  restart(): void
  stop(): Promise<void>
}

/** Starts all processes; null when one of them could not start, which has said why. Rejects with one sentence for the operator. */
export async function startPrimary(
  { dir, env, makeLog }: AppOptions,
  settings: GatewayConfig,
): Promise<RunningPrimary | null> {
  await refuseServed(settings)
  const { dataDir, workers, timeouts } = settings
  const log = makeLog(settings.log.level)
  const primary = new Primary({
    program: { file: process.argv[1] ?? '', args: ['serve', '--config', dir], env },
    sockets: await openSockets(settings),
    isRoundRobin: workers.balance === 'roundRobin',
    ...{ workers: workers.count, dataDir, drain: timeouts.drain, log },
  })
  if (!(await primary.start())) return null
  const { bound } = primary
  return {
    ...{ bound, log, warnings: [] },
    reload: () => {
      primary.reload()
    },
    restart: () => {
      void primary.restart()
    },
    stop: () => primary.stop(),
  }
}

/** Binds all, or none. */
async function openSockets({
  listen,
  admin,
  probes,
}: Pick<GatewayConfig, 'listen' | 'admin' | 'probes'>): Promise<Sockets> {
  const open: ListeningSocket[] = []
  const bind = async (at: ListenAddress): Promise<ListeningSocket> => {
    const socket = await openListeningSocket(at)
    open.push(socket)
    return socket
  }
  try {
    return {
      listen: await bind(listen),
      admin: await bind(admin),
      probes: probes === null ? null : await bind(probes),
    }
  } catch (error) {
    for (const socket of open) socket.close()
    throw error
  }
}
