/** A gateway in one process: what it has once, and its calls beside it. */
import { ByteBudget } from '../limits/byte-budget.ts'
import type { Problem } from '../config/problem.ts'
import type { AccessLogConfig } from '../config/observing/types.ts'
import { thisProcess } from '../http/admin/running.ts'
import type { Bound } from '../http/admin/running.ts'
import type { Logger } from '../observe/log.ts'
import { addressesOf } from './addresses.ts'
import { begin, loadValid, refuseServed } from './begin.ts'
import type { AppOptions, Begun, Valid } from './begin.ts'
import { Closing } from './closing.ts'
import { openCoordinator, openProbes, openWholeUsage } from './coordinator.ts'
import { makeGateway } from './gateway.ts'
import { openClients } from './open-clients.ts'
import { openLimits } from './open-limits.ts'
import { openPublic } from './open-listeners.ts'
import { openRecords, openTracing } from './open-records.ts'

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
  const { snapshot, problems, stores, log, metrics } = begun
  const { accounts, keys, ledger } = stores
  const settings = snapshot.gateway
  const usage = await openWholeUsage(begun, null, closing)
  // Before all that asks for the gateway by and by: this waits for Redis.
  const limits = await openLimits(begun, usage, closing)
  const memory = new ByteBudget(() => gateway.snapshot.gateway.limits.memory)
  const access = (): AccessLogConfig | null => gateway.snapshot.gateway.log.access
  const records = openRecords(access, { output: options.output, log }, closing)
  const tracing = await openTracing(settings, { metrics, log }, null, closing)
  const openProbing = openProbes(begun, usage, () => gateway, 0, closing)
  const gateway = makeGateway(
    snapshot,
    {
      accounts,
      keys,
      usage: usage.usage,
      metrics,
      records,
      tracing,
      log,
      memory,
      ...limits.parts,
      journal: ledger.charging,
      openProbing,
    },
    closing,
  )
  limits.follow(gateway)
  const listener = openClients(gateway, settings, {
    ...begun,
    accounts,
    memory,
    connections: limits.connections,
    charging: ledger.charging,
  })
  // As it is at the start: a reload moves neither the data nor the listeners.
  const started = thisProcess(options.dir, settings)
  const now: { bound?: Bound; draining?: true } = {}
  const { listen, ...admin } = addressesOf(settings, options.env)
  const coordinator = await openCoordinator(
    options,
    begun,
    usage,
    {
      gateway,
      usage: usage.usage,
      reports: usage,
      remembered: records,
      purge: which => gateway.live.answers.purge(which),
      clients: listener,
      workers: null,
      restart: () => ({ status: 409, json: { error: ONE_PROCESS } }),
      reloads: {},
      admin,
      process: () => ({ ...started, ...now }),
      open: async bound => {
        const clients = await openPublic(gateway, listener, listen, closing)
        return (now.bound = { ...bound, listen: clients })
      },
    },
    closing,
  )
  return {
    ...coordinator.bound,
    log,
    warnings: problems,
    reload: () => {
      coordinator.reload('signal')
    },
    reopenLogs: () => {
      records.reopen()
    },
    restart: () => {
      log.warn(ONE_PROCESS)
    },
    stop: () => {
      now.draining = true
      coordinator.draining()
      return closing.close()
    },
  }
}
