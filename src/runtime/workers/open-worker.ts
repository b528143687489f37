/** The composition of a worker: everything on a call's path. What is the machine's is asked of the keeper. */
import type { Socket } from 'node:net'
import { systemClock } from '../../ports/clock.ts'
import { ByteBudget } from '../../limits/byte-budget.ts'
import { BadKeys } from '../../limits/bad-keys.ts'
import { AGAIN, SharedHoldings } from '../../limits/holdings.ts'
import { Asking } from '../../limits/asking.ts'
import { SharedRate } from '../../limits/route-rate.ts'
import { CallLimits } from '../../limits/limits.ts'
import type { UsedOf } from '../../limits/limits.ts'
import type { Holdings } from '../../ports/holdings.ts'
import { takeConnection } from '../../http/connections/passed-on.ts'
import type { Gateway } from '../../call/gateway.ts'
import type { Logger } from '../../observe/log.ts'
import { metricsOf } from './kept-counters.ts'
import { Metrics } from '../../observe/metrics.ts'
import { inTimeSlices } from '../../reload/time-slices.ts'
import { ProbeFollower } from '../../routes/health/probe-follower.ts'
import { orAfter } from '../../net/or-after.ts'
import type { Heads } from '../../routes/heads.ts'
import type { Upstreams } from '../../routes/upstreams.ts'
import { compileInSteps } from '../../snapshot/compile.ts'
import type { Snapshot } from '../../snapshot/types.ts'
import { Checkpoints } from '../../stores/sqlite/usage/checkpoints.ts'
import type { UsageEvents } from '../../stores/sqlite/usage/events.ts'
import { HandedOver } from '../../stores/sqlite/usage/journals/hand-over.ts'
import { openOwnJournal } from '../../stores/sqlite/usage/journals/left.ts'
import type { KeeperClient } from './keeper-client.ts'
import { keeperSocket } from '../../net/keeper-socket.ts'
import { passOn } from './parent.ts'
import type { Drain } from './parent.ts'
import type { WorkerRole } from './role.ts'
import { orUndo } from '../alone.ts'
import type { AppOptions } from '../begin.ts'
import { Started } from './answer-keeper.ts'
import { connect, patiently } from './connect-keeper.ts'
import type { Closing } from '../closing.ts'
import { registerClients, registerRoutes } from '../admin/gauges.ts'
import { makeGateway } from '../gateway.ts'
import type { GatewayParts } from '../gateway.ts'
import { logJournal } from '../log.ts'
import { openCertificate } from '../open-certificate.ts'
import { openClients } from '../open-clients.ts'
import { hasWholeLedger } from '../open-limits.ts'
import { openPublic } from '../open-listeners.ts'
import type { PublicDrain } from '../open-listeners.ts'
import { openRecords, openTracing } from '../open-records.ts'
import { openAccountStore } from '../stores.ts'

/** Milliseconds between two reports of what was taken from shared limits. */
const REPORT = 25
/** Milliseconds that the keeper gets to take in what was counted here. */
const TO_LEAVE = 1_000

/** A running worker. */
export interface RunningWorker {
  readonly log: Logger
  /** Opens the access log again, which was renamed. */
  reopenLogs(): void
  /** Serves a connection that the primary has accepted, or that another worker has served before, where it `isKept`. */
  connection(socket: Socket, isKept: boolean): void
  /** Drains and closes everything. */
  stop(how: Drain): Promise<void>
}

/** Starts a worker; rejects with one sentence for the operator. */
export function startWorker(options: AppOptions, role: WorkerRole): Promise<RunningWorker> {
  return orUndo(closing => open(options, role, closing))
}

async function open(
  { env, makeLog, output }: AppOptions,
  role: WorkerRole,
  closing: Closing,
): Promise<RunningWorker> {
  const { slot, workers, dataDir, fd } = role
  const metrics = new Metrics()
  const started = new Started()
  const keeper = await connect(keeperSocket(dataDir), slot, started, closing)
  closing.push(() => leaveCounters(metrics, keeper))
  const share = openShare(keeper, started, role, closing)
  const served = await patiently(() => keeper.config())
  const snapshot = await inTimeSlices(compileInSteps(served.config, served.version))
  const settings = snapshot.gateway
  const log = makeLog(settings.log.level).child({ worker: slot })
  const place = { dataDir, env, postgres: settings.postgres, role: 'worker' } as const
  const { accounts, keys } = await openAccountStore(place, log, closing)
  const journal = openJournal(role, keeper, logJournal(metrics, log), closing)
  const limits = share.limits(settings)
  const memory = new ByteBudget(() => gateway.snapshot.gateway.limits.memory / workers)
  const records = openRecords(() => gateway.snapshot.gateway.log.access, { output, log }, closing)
  const tracing = await openTracing(settings, { metrics, log }, slot, closing)
  const openProbing = (upstreams: Upstreams, heads: Heads): ProbeFollower =>
    (started.probing = follow(upstreams, heads, snapshot, keeper))
  const gateway = makeGateway(
    snapshot,
    {
      accounts,
      keys,
      metrics,
      records,
      tracing,
      log,
      memory,
      ...limits,
      journal: journal.charging,
      usage: keeper,
      openProbing,
    },
    closing,
  )
  shareNews(gateway, keeper)
  closing.push(
    accounts.onChange(() => {
      keeper.say({ t: 'accounts' })
    }),
  )
  const certificate = await openCertificate(settings.tls)
  const { connections } = share
  const { charging } = journal
  const listener = openClients(gateway, settings, {
    accounts,
    certificate,
    memory,
    connections,
    charging,
    metrics,
    log,
  })
  registerRoutes(gateway, metrics)
  registerClients(gateway, metrics, listener)
  started.probing?.takeAll(await patiently(() => keeper.reports()))
  const { sockets } = listener
  started.is({ gateway, metrics, records, journal, certificate, accounts, keys, log, sockets }, served)
  const drain: PublicDrain = {}
  await openPublic(gateway, listener, fd === null ? null : { fd }, closing, drain)
  return {
    log,
    reopenLogs: () => {
      records.reopen()
    },
    connection: (socket, isKept) => {
      takeConnection(listener.server, socket, isKept)
    },
    stop: ({ leaving, spread, passesOn }) => {
      started.leaves()
      // Of TLS only this process knows where it is.
      const passed = passesOn === true && certificate === null ? passOn : null
      Object.assign(drain, { leaving, spread, passOn: passed })
      return closing.close()
    },
  }
}

/** Leaves what was counted here. Without a keeper what came since the last scrape is not counted. */
async function leaveCounters(metrics: Metrics, keeper: KeeperClient): Promise<void> {
  const leaving = metricsOf(metrics).then(all => keeper.bye(all))
  await orAfter(
    leaving.catch(() => undefined),
    TO_LEAVE,
  )
}

/** Charges into a file of this worker's own, from which the keeper takes over. */
function openJournal(
  { dataDir, slot }: WorkerRole,
  keeper: KeeperClient,
  events: UsageEvents,
  closing: Closing,
): HandedOver {
  const own = openOwnJournal(dataDir, slot)
  const journal = new HandedOver(own.database, own.file, events, batch => keeper.takeOver(batch))
  closing.push(async () => {
    own.leave(await journal.close())
  })
  const checkpoints = new Checkpoints(own.database, events)
  closing.push(() => checkpoints.close())
  return journal
}

/** This worker's part of what all share: connections and subscriptions, and limits once the configuration is known. */
function openShare(
  keeper: KeeperClient,
  started: Started,
  { workers }: WorkerRole,
  closing: Closing,
): {
  readonly connections: Holdings
  limits(settings: Snapshot['gateway']): Pick<GatewayParts, 'limits' | 'badKeys' | 'routes' | 'subscriptions'>
} {
  const holding = { store: keeper, clock: systemClock, every: REPORT, again: Infinity }
  const holdings = new SharedHoldings(holding)
  started.holdings = holdings
  closing.push(() => {
    holdings.close()
  })
  const processes = (): number => workers * started.machines
  return {
    connections: holdings.of('connections'),
    limits: settings => {
      if (settings.redis !== null) holding.again = AGAIN
      const asking = new Asking({
        store: keeper,
        clock: systemClock,
        every: REPORT,
        get processes() {
          return processes()
        },
      })
      if (settings.redis === null) started.renewed = () => asking.renewed()
      closing.push(() => asking.close())
      const used: UsedOf = async quota => keeper.used(quota).catch(() => null)
      return {
        limits: new CallLimits(asking, hasWholeLedger(settings) ? used : null),
        badKeys: new BadKeys(asking, workers),
        subscriptions: holdings.of('subscriptions'),
        routes: {
          processes: workers,
          get machines() {
            return started.machines
          },
          rate: (route, perSecond) => new SharedRate(asking, route, perSecond, processes),
        },
      }
    },
  }
}

/** Knows of routes what the keeper's probes find out. */
function follow(upstreams: Upstreams, heads: Heads, snapshot: Snapshot, keeper: KeeperClient): ProbeFollower {
  return new ProbeFollower(upstreams, heads, snapshot, {
    clock: systemClock,
    suspect: route => {
      keeper.say({ t: 'suspect', route })
    },
  })
}

/** Has the others know what calls here have found out. */
function shareNews({ live }: Gateway, keeper: KeeperClient): void {
  live.upstreams.whenPaused(({ id }, pause) => {
    keeper.say({ t: 'pause', route: id, pause })
  })
  live.floors.whenRisen((network, scale, head, route) => {
    keeper.say({ t: 'shown', network, scale, head, route })
  })
  live.sent.whenTaken(sent => {
    keeper.say({ t: 'sent', sent })
  })
}
