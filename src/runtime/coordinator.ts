/**
 * What a gateway has once, however many processes serve its calls: the ledger, limits and alerts, probes, reloads and the listeners of the operator. One
 * process opens it beside its calls (`alone.ts`), of several the keeper (`workers/open-keeper.ts`).
 */
import type { Gateway } from '../call/gateway.ts'
import type { Bound, Running } from '../http/admin/running.ts'
import { writeServing } from '../http/admin/serving-file.ts'
import { orAfter } from '../net/or-after.ts'
import type { Logger } from '../observe/log.ts'
import type { Ledger } from '../ports/ledger.ts'
import type { Observer } from '../ports/observer.ts'
import type { LoadedBy } from '../reload/reloader.ts'
import { Prober } from '../routes/health/prober.ts'
import type { Heads } from '../routes/heads.ts'
import type { Upstreams } from '../routes/upstreams.ts'
import { LeftJournals, UNREADABLE } from '../stores/sqlite/usage/journals/left.ts'
import { adminRoutes } from './admin/admin-routes.ts'
import type { AdminParts } from './admin/admin-routes.ts'
import { callRecords } from './admin/call-records.ts'
import type { Remembered } from './admin/call-records.ts'
import type { AppOptions, Begun } from './begin.ts'
import type { Closing } from './closing.ts'
import { auditReload, keepAudit } from './keep-audit.ts'
import { keepDownNetworks, keepPaces } from './kept-routes.ts'
import { logRoutes } from './log.ts'
import { openAlerts } from './open-alerts.ts'
import { openAdmin } from './open-listeners.ts'
import type { AdminAt } from './open-listeners.ts'
import { openReloader } from './open-reloader.ts'
import type { ReloadingParts } from './open-reloader.ts'
import { openUsageOf } from './open-usage.ts'
import type { Usage } from './open-usage.ts'
import { makeApi } from '../api/api.ts'
import type { Api } from '../http/admin/listener.ts'
import type { ServiceReply } from '../management/types.ts'
import type { ApiParts } from '../api/operation.ts'
import type { AccountStore } from '../stores/sqlite/accounts/store.ts'

/** Usage, and what killed processes have left of it. */
export interface WholeUsage extends Usage {
  readonly left: LeftJournals
}

/**
 * Opens usage. What workers have left is taken over first: all of it, or with `patience` what comes in so many milliseconds, and the rest while the
 * gateway answers.
 */
export async function openWholeUsage(
  begun: Begun,
  patience: number | null,
  closing: Closing,
): Promise<WholeUsage> {
  const { snapshot, stores, log, metrics } = begun
  const left = new LeftJournals(stores.database, snapshot.gateway.dataDir, (file, error) => {
    log.error({ err: error, file }, UNREADABLE)
  })
  closing.push(() => left.close())
  const complete = left.look()
  if (patience === null) await complete
  else
    await orAfter(
      complete.catch(() => undefined),
      patience,
    )
  const usage = await openUsageOf(snapshot, { stores, metrics, log, complete }, closing)
  // The last report at a stop does not wait for the rest either.
  closing.push(() => left.close())
  return { ...usage, left }
}

/** Opens alerts; returns how to probe the routes of the gateway that is being made. `workers` serve already. */
export function openProbes(
  { snapshot, stores, state, log, metrics }: Begun,
  { others }: Pick<Usage, 'others'>,
  gateway: () => Gateway,
  workers: number,
  closing: Closing,
): (upstreams: Upstreams, heads: Heads, observer: Observer) => Prober {
  const { accounts, fleet, database } = stores
  const down = keepDownNetworks(state, workers)
  const alerts = openAlerts({ gateway, accounts, fleet, database, others, metrics, log }, closing)
  return (upstreams, heads, observer) => {
    keepPaces(state, heads, closing)
    const events = down.heard(logRoutes(log, observer, alerts))
    return new Prober(upstreams, heads, snapshot, events, { before: down.before })
  }
}

/** The calls of a gateway, served in this process or by its workers, as the rest of the gateway uses them. */
export interface ServedCalls extends Pick<AdminParts, 'clients' | 'workers' | 'restart' | 'purge'> {
  readonly gateway: Gateway
  /** What the operator reads of usage, and what is said of it to other machines. */
  readonly usage: Ledger
  readonly reports: Pick<Usage, 'unready' | 'report'>
  readonly remembered: Remembered
  readonly reloads: Pick<ReloadingParts, 'taken' | 'kept'>
  readonly admin: AdminAt
  /** The process that the operator knows, and whether another one goes on with its calls. */
  readonly process: () => Running
  /** Opens the way for calls behind the listeners of the operator, as it is closed before them; resolves to where clients connect. */
  open(admin: Pick<Bound, 'admin' | 'probes'>): Promise<Bound>
}

/** A running gateway, but for its calls. */
export interface Coordinator {
  readonly bound: Bound
  readonly log: Logger
  readonly reload: (by: LoadedBy) => void
  /** Nothing new is begun. */
  readonly draining: () => void
}

/** Opens reloads and the listeners of the operator. */
export async function openCoordinator(
  options: AppOptions,
  begun: Begun,
  usage: WholeUsage,
  serving: ServedCalls,
  closing: Closing,
): Promise<Coordinator> {
  const { config, snapshot, problems, stores, certificate, log, metrics } = begun
  const { accounts, ledger } = stores
  const { gateway, process: self } = serving
  const state = { draining: false }
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
      ...serving.reloads,
    },
    closing,
  )
  const { reloader } = reloading
  usage.follow(gateway, reloader, () => accounts.age() / 1000)
  const calls = callRecords(serving.remembered, () => gateway.snapshot.gateway.log.access)
  const routes = adminRoutes({
    ...serving,
    calls,
    metrics,
    state,
    reloader,
    accounts,
    usage: ledger,
    fleet: serving.reports,
  })
  const api = openApi(gateway, accounts, { calls, usage: serving.usage })
  const bound = await serving.open(await openAdmin(gateway, { routes, api }, serving.admin, closing))
  closing.push(
    writeServing(snapshot.gateway.dataDir, { pid: self().pid, ...bound }, sentence => {
      log.warn(sentence)
    }),
  )
  await reloading.watch(closing)
  return {
    bound,
    log,
    reload: reloading.reload,
    draining: () => {
      state.draining = true
    },
  }
}

/** The admin API of a gateway. */
export function openApi(
  gateway: Gateway,
  store: AccountStore,
  { calls, usage }: Pick<ApiParts, 'calls' | 'usage'>,
): Api {
  const { accounts, endpoints, tokens, audit, alerts } = store
  return makeApi({
    accounts,
    endpoints,
    tokens,
    audit,
    alerts,
    calls,
    usage,
    keys: { find: key => store.findByKey(key) },
    snapshot: () => gateway.snapshot,
    manage: async (method, params, caller) => {
      const { live, snapshot } = gateway
      const reply = await live.management.answer(method, params, { endpoint: null, ...caller }, snapshot)
      if (reply === null) throw new Error(`there is no method ${method}`)
      return reply as ServiceReply
    },
  })
}
