/** A process that the primary has started: a keeper or a worker, until it is told to end. */
import { formatProblem } from '../../config/problem.ts'
import { hearOrders, report } from '../../workers/parent.ts'
import type { Leaving } from '../../workers/parent.ts'
import type { KeeperRole, WorkerRole } from '../../workers/role.ts'
import type { AppOptions } from '../begin.ts'
import { startKeeper } from './keeper.ts'
import { startWorker } from './worker.ts'
import type { RunningWorker } from './worker.ts'

/** Serves by its role; resolves to the exit code when it has ended. */
export async function runChild(options: AppOptions, role: KeeperRole | WorkerRole): Promise<number> {
  // A file that may not grow (RLIMIT_FSIZE) is an error of the write, not the end of the process.
  process.on('SIGXFSZ', () => undefined)
  try {
    await (role.is === 'keeper' ? runKeeper(options, role) : runWorker(options, role))
    return 0
  } finally {
    // The way to the primary would keep this process alive.
    if (process.connected) process.disconnect()
  }
}

async function runKeeper(options: AppOptions, role: KeeperRole): Promise<void> {
  const draining = new Promise<Leaving>(resolve => {
    hearOrders({
      drain: resolve,
      restarting: left => {
        void coming.then(keeper => {
          keeper.restarting(left)
        })
      },
      reload: () => {
        void coming.then(keeper => {
          keeper.reload('signal')
        })
      },
    })
  })
  const coming = startKeeper(options, role)
  void goWithPrimary(coming, draining)
  const keeper = await coming
  for (const problem of keeper.warnings) keeper.log.warn(formatProblem(problem))
  report({ t: 'ready' })
  await keeper.stop(await draining)
}

async function runWorker(options: AppOptions, role: WorkerRole): Promise<void> {
  const draining = new Promise<Parameters<RunningWorker['stop']>>(resolve => {
    hearOrders({
      drain: (...how) => {
        resolve(how)
      },
      reopenLogs: () => {
        void coming.then(worker => {
          worker.reopenLogs()
        })
      },
      connection: socket => {
        void coming.then(worker => {
          worker.connection(socket)
        })
      },
    })
  })
  const coming = startWorker(options, role)
  void goWithPrimary(
    coming,
    draining.then(([leaving]) => leaving),
  )
  const worker = await coming
  report({ t: 'ready' })
  await worker.stop(...(await draining))
}

/** Ends a process at once whose primary is gone before it serves: it has nothing in flight, and holds a socket on which nobody would answer. */
async function goWithPrimary(coming: Promise<unknown>, draining: Promise<Leaving>): Promise<void> {
  const serves = coming.then(
    () => 'serves',
    () => 'failed',
  )
  if ((await Promise.race([serves, draining])) === 'orphaned') process.exit(1)
}
