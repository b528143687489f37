/** A process that the primary has started: a keeper or a worker, until it is told to end. */
import { formatProblem } from '../config/problem.ts'
import { hearOrders, tellReady } from '../workers/parent.ts'
import type { KeeperRole, Role, WorkerRole } from '../workers/role.ts'
import type { AppOptions } from './begin.ts'
import { startKeeper } from './keeper.ts'
import { startWorker } from './worker.ts'

/** Serves by its role; resolves to the exit code when it has ended. */
export async function runChild(options: AppOptions, role: Role): Promise<number> {
  await (role.is === 'keeper' ? runKeeper(options, role) : runWorker(options, role))
  // The way to the primary would keep this process alive.
  if (process.connected) process.disconnect()
  return 0
}

async function runKeeper(options: AppOptions, role: KeeperRole): Promise<void> {
  const draining = new Promise<void>(resolve => {
    hearOrders({
      drain: () => {
        resolve()
      },
      reload: () => {
        void coming.then(keeper => {
          keeper.reload()
        })
      },
    })
  })
  const coming = startKeeper(options, role)
  const keeper = await coming
  for (const problem of keeper.warnings) keeper.log.warn(formatProblem(problem))
  tellReady()
  await draining
  await keeper.stop()
}

async function runWorker(options: AppOptions, role: WorkerRole): Promise<void> {
  const draining = new Promise<boolean>(resolve => {
    hearOrders({
      drain: resolve,
      connection: socket => {
        void coming.then(worker => {
          worker.connection(socket)
        })
      },
    })
  })
  const coming = startWorker(options, role)
  const worker = await coming
  tellReady()
  await worker.stop(await draining)
}
