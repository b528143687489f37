/** The composition root: opens every part of `serve` in order, and closes them in the other. */
import { systemClock } from '../ports/clock.ts'
import { adminRoutes } from './admin-routes.ts'
import { join } from 'node:path'
import { ByteBudget } from '../limits/byte-budget.ts'
import { takingBack } from '../stores/sqlite/accounts/take-back.ts'
import { ConfigError } from '../config/config-error.ts'
import { Closing } from './closing.ts'
import { FILES } from '../config/files.ts'
import type { Problem } from '../config/problem.ts'
import { Gateway } from '../call/gateway.ts'
import { loadSnapshot } from '../snapshot/load-snapshot.ts'
import { inUseProblems } from '../reload/in-use-problems.ts'
import { makeManagement } from './management.ts'
import { preflight } from '../reload/preflight.ts'
import type { Logger } from '../observe/log.ts'
import { Metrics } from '../observe/metrics.ts'
import { AttemptLog } from '../observe/attempt-log.ts'
import { makeObserver } from '../observe/observer.ts'
import { openCertificate, renewCertificate } from './open-certificate.ts'
import { LAST_CALLS } from '../http/listen.ts'
import { orAfter } from '../net/or-after.ts'
import { openDashboard } from './open-dashboard.ts'
import { openListeners } from './open-listeners.ts'
import { openSubscriptions } from './open-subscriptions.ts'
import { makePublicListener } from '../http/public-listener.ts'
import { logRoutes } from './log-routes.ts'
import { atOnce, inTimeSlices } from '../reload/time-slices.ts'
import { Loader } from '../reload/loader.ts'
import { Reloader } from '../reload/reloader.ts'
import type { LoadedBy } from '../reload/reloader.ts'
import { watchFiles } from '../reload/watch.ts'
import { OtherFiles } from '../reload/other-files.ts'
import { whyServed } from '../http/admin/find-gateway.ts'
import { thisProcess } from '../http/admin/running.ts'
import type { Bound, Running } from '../http/admin/running.ts'
import { writeServing } from '../http/admin/serving-file.ts'
import type { Snapshot } from '../snapshot/types.ts'
import { openStores } from './stores.ts'
import type { Stores } from './stores.ts'
import { logJournal } from './log-journal.ts'
import { Blockhashes } from '../families/solana/blockhashes.ts'
import { Filters } from '../routes/filters.ts'
import { Floors, Heads } from '../routes/heads.ts'
import { Prober } from '../routes/health/prober.ts'
import { Upstreams } from '../routes/upstreams.ts'
import { BadKeys } from '../limits/bad-keys.ts'
import { FreeEnds } from '../limits/free-ends.ts'
import { MemoryLimits } from '../limits/memory.ts'
import { Slots } from '../limits/holdings.ts'

/** What `serve` is told. */
export interface AppOptions {
  readonly dir: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly makeLog: (level: string) => Logger
}

/** A running gateway. */
export interface App {
  /** `host:port` as bound. */
  readonly listen: string
  readonly admin: string
  /** Where probes are answered, if that is configured. */
  readonly probes?: string
  readonly log: Logger
  readonly warnings: readonly Problem[]
  /** Reads the configuration again, at a signal. */
  reload(): void
  /** Drains and closes everything. */
  stop(): Promise<void>
}

/** Starts the gateway; rejects with ConfigError, or with one sentence for the operator. */
export async function startApp(options: AppOptions): Promise<App> {
  const closing = new Closing()
  const undoing = new Closing()
  try {
    return await open(options, closing, undoing)
  } catch (error) {
    await closing.close()
    await undoing.close()
    throw error
  }
}

/** Pushes how to close what it opens, and how to undo what it makes: that stays once the gateway has come up. */
async function open({ dir, env, makeLog }: AppOptions, closing: Closing, undoing: Closing): Promise<App> {
  const { config, snapshot, problems: found, places } = await loadSnapshot(dir, env)
  if (config === null || snapshot === null) throw new ConfigError(found)
  const settings = snapshot.gateway
  const log = makeLog(settings.log.level)
  const metrics = new Metrics()
  const served = await whyServed(settings)
  if (served !== null) throw new Error(served)
  undoing.push(takingBack(settings.dataDir))
  const events = logJournal(metrics, log)
  const stores = await openStores(settings.dataDir, env, { log, events }, closing)
  const problems = [...found, ...inUseProblems(config, stores.accounts.inUse, places)]
  if (problems.some(({ severity }) => severity === 'error')) throw new ConfigError(problems)

  const certificate = await openCertificate(settings.tls)
  const memory = new ByteBudget(() => gateway.snapshot.gateway.limits.memory)
  const gateway = makeGateway(snapshot, stores, { metrics, log, memory }, closing)
  const loader = new Loader({ dir, env, port: settings.listen.port })
  closing.push(() => loader.close())
  const otherFiles = new OtherFiles(() => {
    reload('watcher')
  })
  // As it is at the start: a reload moves neither the data nor the listeners.
  const started = thisProcess(dir, settings)
  const listeners: { bound?: Bound } = {}
  const self = (): Running => ({ ...started, ...listeners })
  const reloader = new Reloader(
    { config, version: snapshot.version, problems },
    {
      load: () => loader.load(),
      meet: (next, places) =>
        preflight({ config: next, places, env, running: self() }, stores.accounts.inUse),
      renewCertificate: async next => {
        await otherFiles.follow(next)
        const { tls } = next.gateway
        return certificate !== null && tls !== null && renewCertificate(certificate, tls)
      },
      swap: async next => {
        const { upstreams } = gateway.live
        const opened = await inTimeSlices(upstreams.open(next))
        log.level = next.gateway.log.level
        const { left, underWay } = gateway.swap(next, opened)
        void underWay.then(() => inTimeSlices(upstreams.retire(left)))
      },
      log,
    },
  )
  const state = { draining: false }
  const listener = makePublicListener(gateway, settings, {
    ...{ certificate, memory },
    openDashboard: openDashboard(gateway, stores.accounts),
  })
  const parts = {
    process: self,
    gateway,
    metrics,
    state,
    reloader,
    usage: stores.ledger,
    accounts: stores.accounts,
  }
  const routes = adminRoutes({ ...parts, ...listener })
  const bound = await openListeners(gateway, listener, routes, closing)
  listeners.bound = bound
  closing.push(
    writeServing(settings.dataDir, { pid: process.pid, ...bound }, sentence => {
      log.warn(sentence)
    }),
  )
  const reload = (by: LoadedBy): void => {
    if (state.draining) return
    void reloader.reload(by).catch((error: unknown) => {
      gateway.live.observer.bug(error, 'reload')
    })
  }
  closing.push(() => reloader.idle())
  closing.push(
    await watchFiles(
      FILES.map(file => join(dir, file)),
      () => {
        reload('watcher')
      },
    ),
  )
  await otherFiles.follow(config)
  closing.push(() => {
    otherFiles.close()
  })
  return {
    ...{ ...bound, log, warnings: problems },
    reload: () => {
      reload('signal')
    },
    stop: () => {
      state.draining = true
      return closing.close()
    },
  }
}

function makeGateway(
  snapshot: Snapshot,
  { accounts, keys, ledger, usage }: Stores,
  { metrics, log, memory }: { readonly metrics: Metrics; readonly log: Logger; readonly memory: ByteBudget },
  closing: Closing,
): Gateway {
  const heads = new Heads()
  const upstreams = new Upstreams(heads)
  const attempts = new AttemptLog(log)
  closing.push(() => attempts.close())
  // Calls that a drain cut short end with their upstreams, and give back what they took while usage can be written.
  closing.push(() => orAfter(gateway.idle(), LAST_CALLS))
  closing.push(() => upstreams.close())
  upstreams.adopt(atOnce(upstreams.open(snapshot)))
  const observer = makeObserver(metrics, log, attempts)
  const prober = new Prober(upstreams, heads, snapshot, logRoutes(log, observer))
  closing.push(() => prober.close())
  const subscriptions = openSubscriptions(upstreams, snapshot, memory, observer, log)
  closing.push(() => subscriptions.close())
  const limits = new MemoryLimits((...asked) => ledger.usedInWindow(...asked))
  const gateway = new Gateway(snapshot, keys, {
    ...{
      limits,
      journal: ledger.charging,
      upstreams,
      heads,
      prober,
      filters: new Filters(accounts.deriveKey('filter ids')),
      freeEnds: new FreeEnds(),
      floors: new Floors(),
      blockhashes: new Blockhashes(),
      badKeys: new BadKeys(),
    },
    ...{ subscriptions, clientSubscriptions: new Slots() },
    management: makeManagement({ endpoints: accounts.endpoints, usage, limits, upstreams, heads }),
    ...{ observer, clock: systemClock },
  })
  return gateway
}
