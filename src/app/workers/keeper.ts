/** The composition of the keeper: everything of a gateway but the calls, which its workers serve. */
import { ConfigError } from '../../config/config-error.ts'
import type { Config } from '../../config/types.ts'
import type { Problem } from '../../config/problem.ts'
import { systemClock } from '../../ports/clock.ts'
import { thisProcess } from '../../http/admin/running.ts'
import type { Running } from '../../http/admin/running.ts'
import { writeServing } from '../../http/admin/serving-file.ts'
import { orAfter } from '../../net/or-after.ts'
import { KeptCounters, metricsOf } from '../../workers/kept-counters.ts'
import type { Logger } from '../../observe/log.ts'
import { inTimeSlices } from '../../reload/time-slices.ts'
import type { KnownReloads, LoadedBy } from '../../reload/reloader.ts'
import { compileInSteps } from '../../snapshot/compile.ts'
import type { LoadedSnapshot } from '../../snapshot/load-snapshot.ts'
import { LeftJournals, UNREADABLE } from '../../stores/sqlite/usage/journals/left.ts'
import { Keeper } from '../../workers/keeper.ts'
import { keeperSocket } from '../../net/keeper-socket.ts'
import { report } from '../../workers/parent.ts'
import type { Leaving } from '../../workers/parent.ts'
import { servedByWorkers } from '../../workers/served-by-workers.ts'
import type { KeeperRole } from '../../workers/role.ts'
import { version as programVersion } from '../../config/version.ts'
import { adminRoutes } from '../admin/admin-routes.ts'
import { callRecords } from '../admin/call-records.ts'
import { openApi } from '../admin/open-api.ts'
import { orUndo } from '../app.ts'
import { openLimits } from './open-limits.ts'
import { gatheredUsage, purgedBy, rememberedBy, workersOf } from './ask-workers.ts'
import { begin } from '../begin.ts'
import type { AppOptions, Begun, Valid } from '../begin.ts'
import type { Closing } from '../closing.ts'
import { auditReload, keepAudit } from '../keep-audit.ts'
import { openAdmin } from '../open-listeners.ts'
import { openReloader } from '../open-reloader.ts'
import { gatheredReports, openUsageOf } from '../open-usage.ts'
import { openRoutes } from './open-routes.ts'

/** Milliseconds that a worker gets to compile a configuration, and for which a start waits for what killed workers have left. */
const TO_COMPILE = 10_000
const TO_TAKE_OVER = 1_000

/** Milliseconds beyond a drain that workers are waited for: those of another primary do not leave. */
const BEYOND_DRAIN = 10_000

/** A running keeper. */
export interface RunningKeeper {
  readonly log: Logger
  readonly warnings: readonly Problem[]
  reload(by: LoadedBy): void
  /** Hears that the workers leave for good: nothing new is begun. */
  stopping(): void
  /** Hears which workers a restart has still to replace. */
  restarting(left: readonly number[] | null): void
  /** Closes everything: where the workers leave too, once none has anything more to hand over. */
  stop(leaving: Leaving): Promise<void>
}

/** Starts the keeper; rejects with ConfigError, or with one sentence for the operator. */
export async function startKeeper(
  options: AppOptions,
  role: KeeperRole,
  { config, snapshot, ...loaded }: LoadedSnapshot,
): Promise<RunningKeeper> {
  const start = (valid: Valid, rejected: readonly Problem[] | null = null): Promise<RunningKeeper> =>
    orUndo(async (closing, undoing) =>
      open(
        options,
        role,
        { ...(await begin(options, valid, closing, undoing, role.gateway)), rejected },
        closing,
      ),
    )
  try {
    if (config === null || snapshot === null) throw new ConfigError(loaded.problems)
    return await start({ config, snapshot, ...loaded })
  } catch (error) {
    const rejected = error instanceof ConfigError ? error.problems : null
    const served = rejected === null ? null : await servedByWorkers(role.dataDir)
    if (served === null) throw error
    const compiled = await inTimeSlices(compileInSteps(served.config, served.version))
    const keeper = await start(
      { ...loaded, config: served.config, snapshot: compiled, problems: [] },
      rejected,
    )
    // It is rejected like any other edit: for all to see.
    keeper.reload('watcher')
    return keeper
  }
}

async function open(
  options: AppOptions,
  role: KeeperRole,
  begun: Begun & { readonly rejected: readonly Problem[] | null },
  closing: Closing,
): Promise<RunningKeeper> {
  const { config, snapshot, problems, stores, certificate, log, metrics } = begun
  const settings = snapshot.gateway
  const { accounts, ledger } = stores
  const left = new LeftJournals(stores.database, settings.dataDir, (file, error) => {
    log.error({ err: error, file }, UNREADABLE)
  })
  closing.push(() => left.close())
  const complete = left.look()
  // A long one is taken over while the keeper answers.
  await orAfter(
    complete.catch(() => undefined),
    TO_TAKE_OVER,
  )
  const counters = new KeptCounters(begun.state)
  closing.push(async () => {
    await counters.record([await metricsOf(metrics)])
  })
  const served: { now: { config: Config; version: string } } = { now: { config, version: snapshot.version } }
  const fleet = await openUsageOf(snapshot, { stores, metrics, log, complete }, closing)
  // Nor does the last report at a stop.
  closing.push(() => left.close())
  const limits = await openLimits(begun, role, { ...fleet, config: () => served.now.config }, closing)
  const usage = gatheredUsage(fleet.usage, () => keeper.gather())
  const { gateway, prober } = openRoutes(begun, role.there, { ...fleet, usage }, options, closing)
  const { upstreams } = gateway.live
  const keeper: Keeper = new Keeper({
    ...limits.parts,
    workers: role.there,
    takeOver: (...batch) => {
      left.take(...batch)
    },
    takeLeft: () => left.look(),
    ledger: fleet.usage,
    used: async ({ account, window }) => {
      await keeper.gather()
      return fleet.usedInWindow(account, window, false)
    },
    config: () => served.now,
    damaged: () => accounts.refused?.message ?? null,
    reports: () => prober.reports(),
    heard: news => {
      if (news.t === 'suspect') prober.confirm(news.route)
      else if (news.t === 'pause')
        // It sends no calls, so it is held to nothing: the metrics add up what the workers are held to.
        upstreams.get(news.route)?.pauses.takeIn({ ...news.pause, borne: 0 }, systemClock.monotonic())
    },
    hangs: (worker, isAway) => {
      if (isAway) log.error({ worker }, 'a worker does not answer, and counts as away')
      else log.info({ worker }, 'the worker answers again')
    },
    left: all => counters.record([all]),
    version: programVersion,
  })
  limits.keeper = keeper
  const changed = (): void => {
    keeper.broadcast({ t: 'accounts' })
  }
  closing.push(accounts.onChange(changed))
  stores.fleet.onChange(changed)
  accounts.onRefused(({ message }) => {
    keeper.broadcast({ t: 'damaged', why: message })
  })
  prober.whenReported(report => {
    keeper.broadcast({ t: 'heads', reports: [report] })
  })
  upstreams.whenPaused(({ id }, pause) => {
    keeper.broadcast({ t: 'pause', route: id, pause })
  })
  const started = { ...thisProcess(options.dir, settings), pid: role.primary }
  const state = { draining: false, isLeft: false }
  const self = (): Running => ({ ...started, bound: role.bound, ...(state.isLeft ? { draining: true } : {}) })
  const restarting: { left: readonly number[] | null } = { left: role.restarting ?? null }
  keepAudit(accounts.audit, () => gateway.snapshot.gateway, log, closing)
  const reloading = openReloader(
    {
      ...options,
      config,
      gateway,
      certificate,
      self,
      log,
      state,
      loaded: { version: snapshot.version, problems },
      inUse: accounts.inUse,
      heard: auditReload(accounts.audit, log),
      kept: {
        before: { known: begun.state.read('reloads') as KnownReloads | null, rejected: begun.rejected },
        keep: known => void begun.state.keep('reloads', known),
      },
      taken: async (next, version) => {
        served.now = { config: next, version }
        const told = await keeper.ask('take', served.now, TO_COMPILE)
        const others = keeper.slots.filter(slot => !told.some(one => one.slot === slot))
        if (others.length > 0) log.error({ workers: others }, 'workers have not taken the configuration')
      },
    },
    closing,
  )
  const { reloader } = reloading
  fleet.follow(gateway, reloader, () => accounts.age() / 1000)
  const calls = callRecords(rememberedBy(keeper), () => gateway.snapshot.gateway.log.access)
  const routes = adminRoutes({
    calls,
    purge: purgedBy(keeper),
    gateway,
    metrics,
    state,
    reloader,
    accounts,
    process: self,
    usage: ledger,
    clients: null,
    fleet: gatheredReports(fleet, () => keeper.gather()),
    workers: workersOf(keeper, counters, role.workers, () => restarting.left),
    restart: primary => {
      if (restarting.left !== null)
        return { status: 409, json: { error: 'a restart is under way', left: restarting.left } }
      const slots = Array.from({ length: role.workers }, (_, i) => i + 1)
      restarting.left = slots
      report({ t: 'restart', primary })
      return { status: 202, json: { slots } }
    },
  })
  await keeper.listen(keeperSocket(settings.dataDir))
  closing.push(() => keeper.close())
  const probes = role.probes === null ? null : { fd: role.probes }
  await openAdmin(
    gateway,
    { routes, api: openApi(gateway, accounts, { calls, usage }) },
    { admin: { fd: role.admin }, probes },
    closing,
  )
  closing.push(
    writeServing(settings.dataDir, { pid: role.primary, ...role.bound }, sentence => {
      log.warn(sentence)
    }),
  )
  await reloading.watch(closing)
  return {
    log,
    warnings: problems,
    reload: reloading.reload,
    restarting: left => {
      restarting.left = left
    },
    stopping: () => {
      state.draining = true
    },
    stop: async leaving => {
      state.draining = true
      // Where workers stay, another keeper comes, with which they go on.
      state.isLeft = leaving !== 'alone'
      if (leaving !== 'alone') await orAfter(keeper.allGone(), settings.timeouts.drain + BEYOND_DRAIN)
      await closing.close()
    },
  }
}
