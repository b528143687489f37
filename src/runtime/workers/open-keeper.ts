/** The keeper: what a gateway has once, for workers that serve its calls. */
import type { Gateway } from '../../call/gateway.ts'
import { ConfigError } from '../../config/config-error.ts'
import type { Problem } from '../../config/problem.ts'
import type { AdminReply } from '../../http/admin/listener.ts'
import { thisProcess } from '../../http/admin/running.ts'
import { BadKeys } from '../../limits/bad-keys.ts'
import { LocalBuckets } from '../../limits/buckets.ts'
import { ByteBudget } from '../../limits/byte-budget.ts'
import { CallLimits } from '../../limits/limits.ts'
import { keeperSocket } from '../../net/keeper-socket.ts'
import { orAfter } from '../../net/or-after.ts'
import type { Logger } from '../../observe/log.ts'
import { systemClock } from '../../ports/clock.ts'
import type { KnownReloads, LoadedBy } from '../../reload/reloader.ts'
import { inTimeSlices } from '../../reload/time-slices.ts'
import type { Prober } from '../../routes/health/prober.ts'
import { compileInSteps } from '../../snapshot/compile.ts'
import type { LoadedSnapshot } from '../../snapshot/load-snapshot.ts'
import { Keeper } from './keeper.ts'
import type { KeeperParts } from './keeper.ts'
import { KeptCounters, metricsOf } from './kept-counters.ts'
import type { Served } from './messages.ts'
import { report } from './parent.ts'
import type { Leaving } from './parent.ts'
import type { KeeperRole } from './role.ts'
import { servedByWorkers } from './served-by-workers.ts'
import { orUndo } from '../alone.ts'
import { begin } from '../begin.ts'
import type { AppOptions, Begun, Valid } from '../begin.ts'
import type { Closing } from '../closing.ts'
import { openCoordinator, openProbes, openWholeUsage } from '../coordinator.ts'
import type { WholeUsage } from '../coordinator.ts'
import { makeGateway } from '../gateway.ts'
import type { ReloadingParts } from '../open-reloader.ts'
import { openRecords } from '../open-records.ts'
import { gatheredReports } from '../open-usage.ts'
import type { Usage } from '../open-usage.ts'
import { gatheredUsage, purgedBy, rememberedBy, workersOf } from './ask-workers.ts'
import { openLimits } from './keeper-limits.ts'

/** Milliseconds that a worker gets to compile a configuration, and for which a start waits for what killed workers have left. */
const TO_COMPILE = 10_000
const TO_TAKE_OVER = 1_000

/** Milliseconds beyond a drain that workers are waited for: those of another primary do not leave. */
const BEYOND_DRAIN = 10_000

/** A running keeper. */
export interface RunningKeeper {
  readonly log: Logger
  readonly warnings: readonly Problem[]
  readonly reload: (by: LoadedBy) => void
  /** Hears that the workers leave for good: nothing new is begun. */
  readonly stopping: () => void
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

/** `rejected` is what is wrong with the configuration on the disk, where that of the workers is served in its place. */
type BegunKeeper = Begun & { readonly rejected: readonly Problem[] | null }

async function open(
  options: AppOptions,
  role: KeeperRole,
  begun: BegunKeeper,
  closing: Closing,
): Promise<RunningKeeper> {
  const { config, snapshot, problems, state, log, metrics } = begun
  const settings = snapshot.gateway
  const counters = new KeptCounters(state)
  closing.push(async () => {
    await counters.record([await metricsOf(metrics)])
  })
  const served: { now: Served } = { now: { config, version: snapshot.version } }
  const usage = await openWholeUsage(begun, TO_TAKE_OVER, closing)
  const limits = await openLimits(begun, role, { ...usage, config: () => served.now.config }, closing)
  const gathered = gatheredUsage(usage.usage, () => keeper.gather())
  const { gateway, prober } = openRoutes(begun, role.there, { ...usage, usage: gathered }, options, closing)
  const keeper: Keeper = new Keeper({
    ...limits.parts,
    ...whatWorkersAsk(begun, usage, { gateway, prober, served, counters, workers: role.there }, () => keeper),
  })
  limits.keeper = keeper
  tellWorkers(keeper, begun, { gateway, prober }, closing)
  const started = { ...thisProcess(options.dir, settings), pid: role.primary, bound: role.bound }
  const now: { draining?: true } = {}
  const restart = new Restart(role)
  await keeper.listen(keeperSocket(settings.dataDir))
  closing.push(() => keeper.close())
  const coordinator = await openCoordinator(
    options,
    begun,
    usage,
    {
      gateway,
      usage: gathered,
      reports: gatheredReports(usage, () => keeper.gather()),
      remembered: rememberedBy(keeper),
      purge: purgedBy(keeper),
      clients: null,
      workers: workersOf(keeper, counters, role.workers, () => restart.left),
      restart: primary => restart.begin(primary),
      reloads: { kept: keptReloads(begun), taken: handedOut(keeper, served, log) },
      admin: { admin: { fd: role.admin }, probes: role.probes === null ? null : { fd: role.probes } },
      process: () => ({ ...started, ...now }),
      open: () => Promise.resolve(role.bound),
    },
    closing,
  )
  return {
    log,
    warnings: problems,
    reload: coordinator.reload,
    restarting: left => {
      restart.left = left
    },
    stopping: coordinator.draining,
    stop: async leaving => {
      coordinator.draining()
      // Where workers stay, another keeper comes, with which they go on.
      if (leaving !== 'alone') {
        now.draining = true
        await orAfter(keeper.allGone(), settings.timeouts.drain + BEYOND_DRAIN)
      }
      await closing.close()
    },
  }
}

/** The restart of all processes that is under way. */
class Restart {
  /** The places of workers that it has still to replace; null while there is none. */
  left: readonly number[] | null
  readonly #workers: number

  constructor({ restarting, workers }: KeeperRole) {
    this.left = restarting
    this.#workers = workers
  }

  /** Has the primary begin one, of itself as well or only of the others. */
  begin(primary: boolean): AdminReply {
    if (this.left !== null) return { status: 409, json: { error: 'a restart is under way', left: this.left } }
    const slots = Array.from({ length: this.#workers }, (_, i) => i + 1)
    this.left = slots
    report({ t: 'restart', primary })
    return { status: 202, json: { slots } }
  }
}

/** What the keeper before knew of reloads, and what this one knows for the next. */
function keptReloads({ state, rejected }: BegunKeeper): ReloadingParts['kept'] {
  return {
    before: { known: state.read('reloads') as KnownReloads | null, rejected },
    keep: known => void state.keep('reloads', known),
  }
}

/** Hands a configuration that was loaded to the workers. */
function handedOut(keeper: Keeper, served: { now: Served }, log: Logger): ReloadingParts['taken'] {
  return async (config, version) => {
    served.now = { config, version }
    const told = await keeper.ask('take', served.now, TO_COMPILE)
    const others = keeper.slots.filter(slot => !told.some(one => one.slot === slot))
    if (others.length > 0) log.error({ workers: others }, 'workers have not taken the configuration')
  }
}

/** Probes the routes. It takes no calls: what it knows of routes is for the operator and the workers. `workers` serve already. */
function openRoutes(
  begun: Begun,
  workers: number,
  { usage, others, usedInWindow }: Usage,
  { output }: Pick<AppOptions, 'output'>,
  closing: Closing,
): { readonly gateway: Gateway; readonly prober: Prober } {
  const { stores, snapshot, log, metrics } = begun
  const { accounts, keys, ledger } = stores
  const made: { prober?: Prober } = {}
  const open = openProbes(begun, { others }, () => gateway, workers, closing)
  const buckets = new LocalBuckets(systemClock, usedInWindow)
  const gateway = makeGateway(
    snapshot,
    {
      accounts,
      keys,
      usage,
      metrics,
      log,
      memory: new ByteBudget(() => Infinity),
      records: openRecords(() => null, { output, log }, closing),
      limits: new CallLimits(buckets, ({ account, window }) => usedInWindow(account, window, false)),
      badKeys: new BadKeys(buckets, 1),
      journal: ledger.charging,
      openProbing: (...probed) => (made.prober = open(...probed)),
    },
    closing,
  )
  return { gateway, prober: made.prober! }
}

/** What the keeper answers its workers from. */
interface Kept {
  readonly gateway: Gateway
  readonly prober: Prober
  readonly served: { readonly now: Served }
  readonly counters: KeptCounters
  /** How many of them serve already. */
  readonly workers: number
}

function whatWorkersAsk(
  { stores, log }: Begun,
  { left, usage, usedInWindow }: WholeUsage,
  { gateway, prober, served, counters, workers }: Kept,
  keeper: () => Keeper,
): Omit<KeeperParts, 'buckets' | 'holdings'> {
  const { upstreams } = gateway.live
  return {
    workers,
    takeOver: (...batch) => {
      left.take(...batch)
    },
    takeLeft: () => left.look(),
    ledger: usage,
    used: async ({ account, window }) => {
      await keeper().gather()
      return usedInWindow(account, window, false)
    },
    config: () => served.now,
    damaged: () => stores.accounts.refused?.message ?? null,
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
  }
}

/** Has the workers know what the keeper finds out. */
function tellWorkers(
  keeper: Keeper,
  { stores: { accounts, fleet } }: Begun,
  { gateway, prober }: Pick<Kept, 'gateway' | 'prober'>,
  closing: Closing,
): void {
  const changed = (): void => {
    keeper.broadcast({ t: 'accounts' })
  }
  closing.push(accounts.onChange(changed))
  fleet.onChange(changed)
  accounts.onRefused(({ message }) => {
    keeper.broadcast({ t: 'damaged', why: message })
  })
  prober.whenReported(report => {
    keeper.broadcast({ t: 'heads', reports: [report] })
  })
  gateway.live.upstreams.whenPaused(({ id }, pause) => {
    keeper.broadcast({ t: 'pause', route: id, pause })
  })
}
