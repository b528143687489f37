/** The composition of a gateway in one process: opens every part of `serve` in order, and closes them in the other. */
import { ByteBudget } from '../limits/byte-budget.ts'
import type { Problem } from '../config/problem.ts'
import type { AccessLogConfig } from '../config/observing/types.ts'
import { thisProcess } from '../http/admin/running.ts'
import type { Bound, Running } from '../http/admin/running.ts'
import { writeServing } from '../http/admin/serving-file.ts'
import { makePublicListener } from '../http/public-listener.ts'
import type { Logger } from '../observe/log.ts'
import { Prober } from '../routes/health/prober.ts'
import { LeftJournals, UNREADABLE } from '../stores/sqlite/usage/journals/left.ts'
import { addressesOf } from './addresses.ts'
import { adminRoutes } from './admin/admin-routes.ts'
import { registerBacklog } from './admin/data-gauges.ts'
import { callRecords } from './admin/call-records.ts'
import { openApi } from './admin/open-api.ts'
import { warnOfProxy } from './warn-of-proxy.ts'
import { begin, loadValid, refuseServed } from './begin.ts'
import type { AppOptions, Begun, Valid } from './begin.ts'
import { Closing } from './closing.ts'
import { makeGateway } from './gateway.ts'
import { auditReload, keepAudit } from './keep-audit.ts'
import { keepPaces } from './keep-paces.ts'
import { logRoutes } from './log/log-routes.ts'
import { openAlerts } from './open-alerts.ts'
import { openDashboard } from './open-dashboard.ts'
import { openLimits } from './open-limits.ts'
import { openAdmin, openPublic } from './open-listeners.ts'
import { openRecords, openTracing } from './open-records.ts'
import { openReloader } from './open-reloader.ts'
import { openUsageOf } from './open-usage.ts'

/** What the operator is told who wants it restarted in place. */
const ONE_PROCESS =
  'with workers: 1 there is one process, which cannot be replaced while it serves; restart it, or serve with more workers'

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
  /** Opens the access log again, which was renamed. */
  reopenLogs(): void
  /** Replaces what serves by the program as it is on the disk; one process cannot. */
  restart(): void
  /** Drains and closes everything. */
  stop(): Promise<void>
}

/** Starts the gateway, with the configuration that was read already, if it was; rejects with ConfigError, or with one sentence for the operator. */
export async function startApp(options: AppOptions, read?: Valid): Promise<App> {
  const valid = read ?? (await loadValid(options))
  const settings = valid.snapshot.gateway
  await refuseServed(settings, () => options.makeLog(settings.log.level))
  return orUndo(async (closing, undoing) =>
    open(options, await begin(options, valid, closing, undoing), closing),
  )
}

/** Opens something, or closes again what it has opened, and then undoes what it has made: that stays once all has come up. */
export async function orUndo<T>(open: (closing: Closing, undoing: Closing) => Promise<T>): Promise<T> {
  const closing = new Closing()
  const undoing = new Closing()
  try {
    return await open(closing, undoing)
  } catch (error) {
    await closing.close()
    await undoing.close()
    throw error
  }
}

async function open(options: AppOptions, begun: Begun, closing: Closing): Promise<App> {
  const { config, snapshot, problems, stores, certificate, log, metrics } = begun
  const { accounts, keys, database, ledger } = stores
  const settings = snapshot.gateway
  // What workers have left of a time when there were several.
  const left = new LeftJournals(database, settings.dataDir, (file, error) => {
    log.error({ err: error, file }, UNREADABLE)
  })
  closing.push(() => left.close())
  await left.look()
  const fleet = await openUsageOf(snapshot, { stores, metrics, log }, closing)
  const { usage, others } = fleet
  // Before all that asks for the gateway by and by: this waits for Redis.
  const limits = await openLimits(begun, fleet, closing)
  const memory = new ByteBudget(() => gateway.snapshot.gateway.limits.memory)
  const access = (): AccessLogConfig | null => gateway.snapshot.gateway.log.access
  const records = openRecords(access, { output: options.output, log }, closing)
  const tracing = await openTracing(settings, { metrics, log }, null, closing)
  const alerts = openAlerts(
    { gateway: () => gateway, accounts, fleet: stores.fleet, database, others, metrics, log },
    closing,
  )
  const parts = {
    accounts,
    keys,
    usage,
    metrics,
    records,
    tracing,
    log,
    memory,
    ...limits.parts,
    journal: ledger.charging,
    openProbing: (
      ...[upstreams, heads, observer]: Parameters<Parameters<typeof makeGateway>[1]['openProbing']>
    ) => {
      keepPaces(begun.state, heads, closing)
      return new Prober(upstreams, heads, snapshot, logRoutes(log, observer, alerts))
    },
  }
  const gateway = makeGateway(snapshot, parts, closing)
  limits.follow(gateway)
  // As it is at the start: a reload moves neither the data nor the listeners.
  const started = thisProcess(options.dir, settings)
  const listeners: { bound?: Bound } = {}
  const state = { draining: false }
  const self = (): Running => ({ ...started, ...listeners, ...(state.draining ? { draining: true } : {}) })
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
    },
    closing,
  )
  const listener = makePublicListener(gateway, settings, {
    certificate,
    memory,
    ...limits.connections,
    openDashboard: openDashboard(gateway, accounts),
    onIgnoredProxy: warnOfProxy(log),
  })
  const { reloader } = reloading
  fleet.follow(gateway, reloader, () => accounts.age() / 1000)
  registerBacklog(metrics, () => ledger.charging.counters.contents().length)
  const calls = callRecords(records, access)
  const routes = adminRoutes({
    calls,
    purge: which => gateway.live.answers.purge(which),
    gateway,
    metrics,
    state,
    reloader,
    accounts,
    process: self,
    usage: ledger,
    fleet,
    clients: listener,
    workers: null,
    restart: () => ({ status: 409, json: { error: ONE_PROCESS } }),
  })
  const addresses = addressesOf(settings, options.env)
  const admin = await openAdmin(
    gateway,
    { routes, api: openApi(gateway, accounts, { calls, usage }) },
    addresses,
    closing,
  )
  const bound = { ...admin, listen: await openPublic(gateway, listener, addresses.listen, closing) }
  listeners.bound = bound
  closing.push(
    writeServing(settings.dataDir, { pid: process.pid, ...bound }, sentence => {
      log.warn(sentence)
    }),
  )
  await reloading.watch(closing)
  return {
    ...bound,
    log,
    warnings: problems,
    reload: () => {
      reloading.reload('signal')
    },
    reopenLogs: () => {
      records.reopen()
    },
    restart: () => {
      log.warn(ONE_PROCESS)
    },
    stop: () => {
      state.draining = true
      return closing.close()
    },
  }
}
