/** `tollgate serve`: runs the gateway until it is told to stop. */
import { startApp } from '../runtime/alone.ts'
import { loadValid } from '../runtime/begin.ts'
import type { AppOptions, Valid } from '../runtime/begin.ts'
import { onSignals } from '../early-signals.ts'
import { formatProblem } from '../config/problem.ts'
import type { Problem } from '../config/problem.ts'
import type { Config } from '../config/types.ts'
import { isLoopback } from '../net/address-range.ts'
import { openLog } from '../observe/log.ts'
import type { Logger } from '../observe/log.ts'
import { LogOutput } from '../observe/log-output.ts'
import { tellServiceManager, watchdogInterval } from '../runtime/service-manager.ts'
import type { Bound } from '../http/admin/running.ts'
import { reportFailure } from '../runtime/workers/parent.ts'
import { roleIn } from '../runtime/workers/role.ts'
import type { PrimaryRole, Role } from '../runtime/workers/role.ts'
import { readArguments } from './command.ts'
import type { Command, Io } from './command.ts'
import { signalled } from './signal.ts'

export const serve: Command = {
  usage: `tollgate serve [--config DIR]

Reads networks.yaml, routes.yaml, methods.yaml, plans.yaml and gateway.yaml in DIR (default: here), and serves until
SIGTERM or SIGINT; SIGHUP, and any edit of the files, loads them again; SIGUSR1 opens the access log again, which was
renamed. With several workers (gateway.yaml), SIGUSR2 replaces one process after another by the program as it is on the
disk. At the end it finishes the calls in flight and exits 0. Logs JSON lines on stdout; lines that cannot be written
there are dropped and counted on stderr. The line with "msg":"ready" has the addresses. Under systemd (Type=notify) it
reports that it is ready, and with WatchdogSec that it lives.

  TOLLGATE_MASTER_KEY       32 bytes in base64 that seal the keys at rest; default: dataDir/master.key, made at first use
  TOLLGATE_MASTER_KEY_FILE  a file with that key in place of it, such as a mounted secret that a group may read`,

  async run(args, io) {
    const { config: dir } = readArguments(args, [])
    const output = new LogOutput(process.stdout.fd, sentence => {
      io.err(sentence)
    })
    const options = { dir, env: io.env, output, makeLog: (level: string): Logger => openLog(level, output) }
    const role = ownRole(io.env)
    const served =
      role === null || role.is === 'primary'
        ? start(options, role).then(serving => serveUntilSignalled(serving, io))
        : (await import('../runtime/workers/run-child.ts')).runChild(options, role)
    if (role?.is === 'primary') served.catch(reportFailure)
    const code = await served
    await output.close()
    return code
  },
}

/** What the primary has started this process for; a program that cannot be it tells both. */
function ownRole(env: Io['env']): Role | null {
  try {
    return roleIn(env)
  } catch (error) {
    reportFailure(error)
    throw error
  }
}

/** A gateway that serves, in one process or in many. */
interface Serving {
  readonly bound: Bound
  readonly log: Logger
  readonly warnings: readonly Problem[]
  /** Resolves when another process has taken over, to its id. */
  readonly replaced?: Promise<number>
  reload(): void
  reopenLogs(): void
  restart(): void
  stop(): Promise<void>
  /** Ends its other processes at once. */
  kill?(): void
}

/** Starts a gateway: what it has several processes for is loaded only then. Null where one of those could not start, and has said why. */
async function start(options: AppOptions, beside: PrimaryRole | null): Promise<Serving | null> {
  const valid = await loadValid(options)
  const settings = valid.config.gateway
  const serving =
    settings.workers.count > 1 || beside !== null
      ? await (await import('../runtime/workers/open-primary.ts')).startPrimary(options, settings, beside)
      : await startAlone(options, valid)
  if (serving !== null) logPublicNetworks(serving.log, valid.config)
  return serving
}

async function startAlone(options: AppOptions, valid: Valid): Promise<Serving> {
  const { listen, admin, probes, ...app } = await startApp(options, valid)
  return { ...app, bound: { listen, admin, ...(probes === undefined ? {} : { probes }) } }
}

/** Other machines call these networks without a key: that should be no surprise. */
function logPublicNetworks(log: Serving['log'], { gateway: { listen }, networks }: Config): void {
  const open = networks.filter(network => network.public).map(({ slug }) => slug)
  if (open.length === 0 || isLoopback(listen.host)) return
  log.info(
    { listen: `${listen.host}:${listen.port}`, networks: open },
    'public networks are served without a key',
  )
}

/** A file that may not grow (RLIMIT_FSIZE) is an error of the write, not the end of the process. */
function surviveFullFiles(): void {
  process.on('SIGXFSZ', () => undefined)
}

async function serveUntilSignalled(serving: Serving | null, io: Io): Promise<number> {
  if (serving === null) return 1
  const { bound, log, warnings } = serving
  for (const problem of warnings) log.warn(formatProblem(problem))
  const stopping = signalled(() => {
    serving.kill?.()
  })
  surviveFullFiles()
  onSignals({
    SIGHUP: () => {
      serving.reload()
    },
    SIGUSR1: () => {
      serving.reopenLogs()
    },
    SIGUSR2: () => {
      serving.restart()
    },
  })
  log.info(bound, 'ready')
  const tell = async (...states: readonly string[]): Promise<void> => {
    const why = await tellServiceManager(io.env, ...states)
    if (why !== null) log.warn(`systemd was not notified of ${states[0] ?? ''}: ${why}`)
  }
  void tell('READY=1', `STATUS=serving on ${bound.listen}`)
  const watchdog = watchdogInterval(io.env)
  // A process whose event loop hangs sends none, and is restarted.
  if (watchdog !== null) setInterval(() => void tell('WATCHDOG=1'), watchdog).unref()
  const end = await Promise.race([stopping, ...(serving.replaced === undefined ? [] : [serving.replaced])])
  if (typeof end === 'number') {
    await tell(`MAINPID=${end}`)
    log.info({ pid: end }, 'another process has taken over')
    return 0
  }
  log.info({ signal: end }, 'draining')
  void tell('STOPPING=1', 'STATUS=finishing the calls in flight')
  await serving.stop()
  log.info('stopped')
  return 0
}
