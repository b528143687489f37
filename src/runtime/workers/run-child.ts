/** A process that the primary has started: a keeper or a worker, until it is told to end. */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { FILES } from '../../config/files.ts'
import { formatProblem } from '../../config/problem.ts'
import { hearOrders, report, reportFailure } from './parent.ts'
import type { Drain, Leaving } from './parent.ts'
import type { KeeperRole, WorkerRole } from './role.ts'
import { loadSnapshot } from '../../snapshot/load-snapshot.ts'
import type { AppOptions } from '../begin.ts'
import { startKeeper } from './open-keeper.ts'
import type { RunningKeeper } from './open-keeper.ts'
import { startWorker } from './open-worker.ts'

/** What is logged by each process that a killed primary leaves behind. */
const ORPHANED = 'the primary is gone: this process finishes its calls in flight and ends'

/** Serves by its role; resolves to the exit code when it has ended. */
export async function runChild(options: AppOptions, role: KeeperRole | WorkerRole): Promise<number> {
  process.title = role.is === 'keeper' ? 'tollgate: keeper' : `tollgate: worker ${role.slot}`
  // A file that may not grow (RLIMIT_FSIZE) is an error of the write, not the end of the process.
  process.on('SIGXFSZ', () => undefined)
  try {
    await (role.is === 'keeper' ? runKeeper(options, role) : runWorker(options, role))
    return 0
  } catch (error) {
    reportFailure(error)
    throw error
  } finally {
    // The way to the primary would keep this process alive.
    if (process.connected) process.disconnect()
  }
}

async function runKeeper(options: AppOptions, role: KeeperRole): Promise<void> {
  let mayKeep: () => void = () => undefined
  const kept = new Promise<'kept'>(resolve => {
    mayKeep = () => {
      resolve('kept')
    }
  })
  const draining = new Promise<Leaving>(resolve => {
    hearOrders({
      drain: ({ leaving }) => {
        resolve(leaving)
      },
      keep: () => {
        mayKeep()
      },
      stopping: () => {
        void coming.then(keeper => {
          keeper.stopping()
        })
      },
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
  const coming =
    role.waits === true
      ? startBeside(options, role, Promise.race([kept, draining]))
      : loadSnapshot(options.dir, options.env).then(loaded => startKeeper(options, role, loaded))
  void goWithPrimary(coming, draining)
  const keeper = await coming
  for (const problem of keeper.warnings) keeper.log.warn(formatProblem(problem))
  report({ t: 'ready' })
  const leaving = await draining
  if (leaving === 'orphaned') keeper.log.error(ORPHANED)
  await keeper.stop(leaving)
}

/** Does what can be done before the keeper that is there has ended, so that nobody misses one for long. `ended`: it has, or how this one is to leave. */
async function startBeside(
  options: AppOptions,
  role: KeeperRole,
  ended: Promise<Leaving | 'kept'>,
): Promise<RunningKeeper> {
  const before = statesOf(options.dir)
  const loaded = await loadSnapshot(options.dir, options.env)
  report({ t: 'prepared' })
  if ((await ended) !== 'kept') process.exit(1)
  const isAsRead = statesOf(options.dir) === before
  return startKeeper(options, role, isAsRead ? loaded : await loadSnapshot(options.dir, options.env))
}

/** Tells whether a file of the configuration was edited. */
function statesOf(dir: string): string {
  const states = FILES.map(file => statSync(join(dir, file), { throwIfNoEntry: false }))
  return JSON.stringify(
    states.map(state => (state === undefined ? null : [state.ino, state.size, state.mtimeMs])),
  )
}

async function runWorker(options: AppOptions, role: WorkerRole): Promise<void> {
  const draining = new Promise<Drain>(resolve => {
    hearOrders({
      drain: resolve,
      reopenLogs: () => {
        void coming.then(worker => {
          worker.reopenLogs()
        })
      },
      connection: (...connection) => {
        void coming.then(worker => {
          worker.connection(...connection)
        })
      },
    })
  })
  const coming = startWorker(options, role)
  void goWithPrimary(
    coming,
    draining.then(({ leaving }) => leaving),
  )
  const worker = await coming
  report({ t: 'ready' })
  const how = await draining
  if (how.leaving === 'orphaned') worker.log.error(ORPHANED)
  await worker.stop(how)
}

/** Ends a process at once whose primary is gone before it serves: it has nothing in flight, and holds a socket on which nobody would answer. */
async function goWithPrimary(coming: Promise<unknown>, draining: Promise<Leaving>): Promise<void> {
  const serves = coming.then(
    () => 'serves',
    () => 'failed',
  )
  if ((await Promise.race([serves, draining])) === 'orphaned') process.exit(1)
}
