/** The composition of the primary of a gateway with several processes: it reads which, and binds the sockets that they serve on. */
import { randomUUID } from 'node:crypto'
import type { GatewayConfig } from '../../config/types.ts'
import type { Bound } from '../../http/admin/running.ts'
import type { ListenAt } from '../../http/listen.ts'
import type { Logger } from '../../observe/log.ts'
import { whyNoSocket } from '../../net/keeper-socket.ts'
import { inheritedSocket, openListeningSocket } from './listening-socket.ts'
import type { ListeningSocket, Sockets } from './listening-socket.ts'
import { parentGone, report, reportFailure } from './parent.ts'
import type { Order } from './parent.ts'
import type { ConnectionHandle } from '../../net/connection-handle.ts'
import { Primary } from './primary.ts'
import type { PrimaryRole } from './role.ts'
import { addressesOf } from '../addresses.ts'
import type { Addresses } from '../addresses.ts'
import { refuseServed } from '../begin.ts'
import type { AppOptions } from '../begin.ts'

/** A gateway of several processes, as the one sees it that was started. */
export interface RunningPrimary {
  readonly bound: Bound
  readonly log: Logger
  /** The keeper has told of them. */
  readonly warnings: readonly []
  /** Resolves when another primary has taken over, to its process id. */
  readonly replaced: Promise<number>
  reload(): void
  reopenLogs(): void
  restart(): void
  stop(): Promise<void>
  /** Ends all other processes at once. */
  kill(): void
}

/**
 * Starts all processes; null when one of them could not start, which has said why. `beside` is how this process takes over from an older primary.
 * Rejects with one sentence for the operator.
 */
export async function startPrimary(
  { dir, env, makeLog }: AppOptions,
  settings: GatewayConfig,
  beside: PrimaryRole | null,
): Promise<RunningPrimary | null> {
  const log = makeLog(settings.log.level)
  if (beside === null) await refuseServed(settings, () => log)
  const { dataDir, workers, timeouts } = settings
  const why = whyNoSocket(dataDir)
  if (why !== null) throw new Error(why)
  let isReplaced: (pid: number) => void = () => undefined
  const replaced = new Promise<number>(resolve => {
    isReplaced = resolve
  })
  const primary: Primary = new Primary({
    gateway: beside?.gateway ?? randomUUID(),
    program: { file: process.argv[1] ?? '', args: ['serve', '--config', dir], env },
    sockets: await openSockets(beside === null ? addressesOf(settings, env) : addressesIn(beside)),
    isRoundRobin: workers.balance === 'roundRobin',
    workers: workers.count,
    dataDir,
    drain: timeouts.drain,
    log,
    replace: () => {
      void primary.handOver().then(pid => {
        if (pid !== null) isReplaced(pid)
      })
    },
  })
  if (
    !(await (beside === null ? primary.start() : primary.startBeside(() => mayKeep(primary), parentGone())))
  ) {
    if (beside !== null) reportFailure(primary.why)
    return null
  }
  if (beside !== null) {
    report({ t: 'ready' })
    if (process.connected) process.disconnect()
  }
  return {
    bound: primary.bound,
    log,
    warnings: [],
    replaced,
    reload: () => {
      primary.reload()
    },
    reopenLogs: () => {
      primary.reopenLogs()
    },
    restart: () => {
      void primary.restart()
    },
    stop: () => primary.stop(),
    kill: () => {
      primary.kill()
    },
  }
}

/** Tells the older primary that the workers serve, and takes connections over; resolves when its keeper is gone, or it is gone itself. */
function mayKeep(primary: Pick<Primary, 'passOn'>): Promise<void> {
  return new Promise(resolve => {
    process.on('message', (order: Order, handle?: ConnectionHandle) => {
      if (order.t === 'keep') resolve()
      else if (order.t === 'connection' && handle !== undefined) primary.passOn(handle, order.isKept === true)
    })
    void parentGone().then(resolve)
    report({ t: 'workers' })
  })
}

function addressesIn({ listen, admin, probes }: PrimaryRole): Addresses {
  return { listen: { fd: listen }, admin: { fd: admin }, probes: probes === null ? null : { fd: probes } }
}

/** Opens all, or none. */
async function openSockets({ listen, admin, probes }: Addresses): Promise<Sockets> {
  const opened: ListeningSocket[] = []
  const open = async (at: ListenAt): Promise<ListeningSocket> => {
    const socket = 'fd' in at ? inheritedSocket(at.fd) : await openListeningSocket(at)
    opened.push(socket)
    return socket
  }
  try {
    return {
      listen: await open(listen),
      admin: await open(admin),
      probes: probes === null ? null : await open(probes),
    }
  } catch (error) {
    for (const socket of opened) socket.close()
    throw error
  }
}
