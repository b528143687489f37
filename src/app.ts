/** The composition root: opens every part of `serve` in order, and closes them in the other. */
import { adminRoutes } from './admin-routes.ts'
import { ConfigError } from './config-error.ts'
import { Closing } from './closing.ts'
import type { Problem } from './config/problem.ts'
import { Gateway } from './gateway.ts'
import { loadSnapshot, missingPlans } from './load-snapshot.ts'
import { makeManagement } from './management.ts'
import type { Logger } from './observe/log.ts'
import { Metrics } from './observe/metrics.ts'
import { makeObserver } from './observe/observer.ts'
import { makeAdminListener } from './server/admin-listener.ts'
import { drain, listen, orAfter } from './server/listen.ts'
import { openDashboard } from './open-dashboard.ts'
import { makePublicListener } from './server/public-listener.ts'
import type { PublicListener } from './server/public-listener.ts'
import { loadApart } from './reload/loader.ts'
import { Reloader } from './reload/reloader.ts'
import { watchDirectory } from './reload/watch.ts'
import { writeServing } from './serving-file.ts'
import type { Snapshot } from './snapshot/types.ts'
import { openStores } from './stores.ts'
import type { Stores } from './stores.ts'
import { Filters } from './upstream/filters.ts'
import { Floors } from './upstream/floors.ts'
import { Prober } from './upstream/prober.ts'
import { Tips } from './upstream/tips.ts'
import { Subscriptions } from './upstream/subscriptions/subscriptions.ts'
import { Upstreams } from './upstream/upstreams.ts'
import { BadKeys } from './usage/bad-keys.ts'
import type { JournalEvents } from './usage/journal.ts'
import { Meter } from './usage/meter.ts'
import { PublicMeter } from './usage/public-meter.ts'
import { Slots } from './usage/slots.ts'

/** Milliseconds that calls get to end once their upstreams are closed. */
const LAST_CALLS = 1_000

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
  readonly log: Logger
  readonly warnings: readonly Problem[]
  /** Reads the configuration again. */
  reload(): void
  /** Drains and closes everything. */
  stop(): Promise<void>
}

/** Starts the gateway; rejects with ConfigError, or with one sentence for the operator. */
export async function startApp(options: AppOptions): Promise<App> {
  const closing = new Closing()
  try {
    return await open(options, closing)
  } catch (error) {
    await closing.close()
    throw error
  }
}

async function open({ dir, env, makeLog }: AppOptions, closing: Closing): Promise<App> {
  const { config, snapshot, problems, plansAt } = await loadSnapshot(dir, env)
  if (config === null || snapshot === null) throw new ConfigError(problems)
  const settings = snapshot.gateway
  const log = makeLog(settings.log.level)
  const metrics = new Metrics()
  const stores = await openStores(settings.dataDir, env, journalEvents(metrics, log), closing)
  const missing = missingPlans(config, stores.accounts.plansInUse(), plansAt)
  if (missing.length > 0) throw new ConfigError(missing)

  const gateway = makeGateway(snapshot, stores, { metrics, log }, closing)
  const reloader = new Reloader(config, problems, {
    load: () => loadApart(dir, env),
    plansInUse: () => stores.accounts.plansInUse(),
    swap: next => {
      log.level = next.gateway.log.level
      gateway.swap(next)
    },
    log,
  })
  const state = { draining: false }
  const listener = makePublicListener(gateway, settings, openDashboard(gateway, stores.accounts))
  const routes = adminRoutes({ gateway, metrics, state, reloader, sockets: listener.sockets })
  const bound = await openListeners(gateway, listener, routes, closing)
  closing.push(writeServing(settings.dataDir, { pid: process.pid, ...bound }))
  const reload = (): void => {
    void reloader.reload().catch((error: unknown) => {
      gateway.live.observer.bug(error, 'reload')
    })
  }
  closing.push(await watchDirectory(dir, reload))
  return {
    ...{ ...bound, log, reload, warnings: problems },
    stop: () => {
      state.draining = true
      return closing.close()
    },
  }
}

function journalEvents(metrics: Metrics, log: Logger): JournalEvents {
  return {
    committed: seconds => {
      metrics.committed(seconds)
    },
    failed: error => {
      log.error({ err: error }, 'usage cannot be recorded; calls are refused until it can')
    },
  }
}

function makeGateway(
  snapshot: Snapshot,
  { accounts, keys, ledger }: Stores,
  { metrics, log }: { readonly metrics: Metrics; readonly log: Logger },
  closing: Closing,
): Gateway {
  const tips = new Tips()
  const upstreams = new Upstreams(tips)
  // Calls that a drain cut short end with their upstreams, and give back what they took while usage can be written.
  closing.push(() => orAfter(gateway.idle(), LAST_CALLS))
  closing.push(() => upstreams.close())
  upstreams.reconcile(snapshot)
  const prober = new Prober(upstreams, tips, snapshot, {
    wrongChain: (network, route, why) => {
      log.error({ network, route, why }, 'a route serves another chain and gets no calls')
    },
  })
  closing.push(() => prober.close())
  const subscriptions = new Subscriptions(upstreams, () => snapshot.gateway.timeouts.connect)
  closing.push(() => subscriptions.close())
  const meter = new Meter(ledger)
  const gateway = new Gateway(snapshot, keys, {
    ...{
      meter,
      upstreams,
      tips,
      prober,
      filters: new Filters(),
      floors: new Floors(),
      publicMeter: new PublicMeter(),
      badKeys: new BadKeys(),
    },
    ...{ subscriptions, subscriptionSlots: new Slots() },
    management: makeManagement({ accounts, ledger, meter, upstreams, tips }),
    observer: makeObserver(metrics, log),
    now: Date.now,
  })
  return gateway
}

async function openListeners(
  gateway: Gateway,
  { server, sockets }: PublicListener,
  routes: ReturnType<typeof adminRoutes>,
  closing: Closing,
): Promise<{ readonly listen: string; readonly admin: string }> {
  const { listen: listenAt, admin: adminAt, timeouts } = gateway.snapshot.gateway
  const admin = makeAdminListener(routes, error => {
    gateway.live.observer.bug(error, 'admin')
  })
  const adminBound = await listen(admin, adminAt)
  closing.push(() => drain(admin, { idle: Promise.resolve(), patience: 0, cutShort: () => undefined }))
  const bound = await listen(server, listenAt)
  closing.push(async () => {
    const told = sockets.drain()
    await drain(server, {
      idle: gateway.idle(),
      patience: timeouts.drain,
      cutShort: () => {
        gateway.cutShort()
        sockets.cut()
      },
    })
    await told
  })
  return { listen: bound, admin: adminBound }
}
