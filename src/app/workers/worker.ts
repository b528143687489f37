/** The composition of a worker: everything on a call's path. What is the machine's is asked of the keeper. */
import type { Socket } from 'node:net'
import { version as programVersion } from '../../config/version.ts'
import { systemClock } from '../../ports/clock.ts'
import { ByteBudget } from '../../limits/byte-budget.ts'
import { BadKeys } from '../../limits/bad-keys.ts'
import { AGAIN, SharedHoldings } from '../../limits/holdings.ts'
import { Asking } from '../../limits/asking.ts'
import { SharedRate } from '../../limits/route-rate.ts'
import { CallLimits } from '../../limits/limits.ts'
import { takeConnection } from '../../http/connections/passed-on.ts'
import { makePublicListener } from '../../http/public-listener.ts'
import type { Gateway } from '../../call/gateway.ts'
import type { Logger } from '../../observe/log.ts'
import { metricsOf } from '../../workers/kept-counters.ts'
import { Metrics } from '../../observe/metrics.ts'
import { inTimeSlices } from '../../reload/time-slices.ts'
import { ProbeFollower } from '../../routes/health/probe-follower.ts'
import { orAfter } from '../../net/or-after.ts'
import type { Heads } from '../../routes/heads.ts'
import type { Upstreams } from '../../routes/upstreams.ts'
import { compileInSteps } from '../../snapshot/compile.ts'
import type { Snapshot } from '../../snapshot/types.ts'
import { Checkpoints } from '../../stores/sqlite/usage/checkpoints.ts'
import { HandedOver } from '../../stores/sqlite/usage/journals/hand-over.ts'
import { openOwnJournal } from '../../stores/sqlite/usage/journals/left.ts'
import type { KeeperClient } from '../../workers/keeper-client.ts'
import { keeperSocket } from '../../net/keeper-socket.ts'
import type { Served } from '../../workers/messages.ts'
import { passOn } from '../../workers/parent.ts'
import type { Drain } from '../../workers/parent.ts'
import type { WorkerRole } from '../../workers/role.ts'
import { orUndo } from '../app.ts'
import { loadValid } from '../begin.ts'
import type { AppOptions } from '../begin.ts'
import { Started } from './answer-keeper.ts'
import { connect, patiently } from './connect-keeper.ts'
import type { Closing } from '../closing.ts'
import { registerBacklog } from '../admin/data-gauges.ts'
import { registerClients, registerRoutes } from '../admin/gauges.ts'
import { makeGateway } from '../gateway.ts'
import { logJournal } from '../log/log-journal.ts'
import { openCertificate } from '../open-certificate.ts'
import { warnOfProxy } from '../warn-of-proxy.ts'
import { openDashboard } from '../open-dashboard.ts'
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
  { dir, env, makeLog, output }: AppOptions,
  { slot, workers, dataDir, fd }: WorkerRole,
  closing: Closing,
): Promise<RunningWorker> {
  const metrics = new Metrics()
  const started = new Started()
  const keeper = await connect(keeperSocket(dataDir), slot, started, closing)
  closing.push(async () => {
    const leaving = metricsOf(metrics).then(all => keeper.bye(all))
    // Without a keeper what came since the last scrape is not counted.
    await orAfter(
      leaving.catch(() => undefined),
      TO_LEAVE,
    )
  })
  const holding = { store: keeper, clock: systemClock, every: REPORT, again: Infinity }
  const holdings = new SharedHoldings(holding)
  started.holdings = holdings
  closing.push(() => {
    holdings.close()
  })
  const served = await whatToServe(await patiently(() => keeper.config()), keeper, { dir, env })
  const { config, version } = served
  const snapshot = await inTimeSlices(compileInSteps(config, version))
  const settings = snapshot.gateway
  if (settings.redis !== null) holding.again = AGAIN
  const log = makeLog(settings.log.level).child({ worker: slot })
  const { accounts, keys } = await openAccountStore(
    { dataDir, env, postgres: settings.postgres, role: 'worker' },
    log,
    closing,
  )
  const own = openOwnJournal(dataDir, slot)
  const events = logJournal(metrics, log)
  const journal = new HandedOver(own.database, own.file, events, batch => keeper.takeOver(batch))
  closing.push(async () => {
    own.leave(await journal.close())
  })
  const checkpoints = new Checkpoints(own.database, events)
  closing.push(() => checkpoints.close())
  const processes = (): number => workers * started.machines
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
  const memory = new ByteBudget(() => gateway.snapshot.gateway.limits.memory / workers)
  const records = openRecords(() => gateway.snapshot.gateway.log.access, { output, log }, closing)
  const tracing = await openTracing(settings, { metrics, log }, slot, closing)
  const parts = {
    accounts,
    keys,
    metrics,
    records,
    tracing,
    log,
    memory,
    limits: new CallLimits(
      asking,
      hasWholeLedger(settings) ? async quota => keeper.used(quota).catch(() => null) : null,
    ),
    journal: journal.charging,
    usage: keeper,
    subscriptions: holdings.of('subscriptions'),
    badKeys: new BadKeys(asking, workers),
    routes: {
      processes: workers,
      get machines() {
        return started.machines
      },
      rate: (route: string, perSecond: number) => new SharedRate(asking, route, perSecond, processes),
    },
    openProbing: (upstreams: Upstreams, heads: Heads) =>
      (started.probing = follow(upstreams, heads, snapshot, keeper)),
  }
  const gateway = makeGateway(snapshot, parts, closing)
  shareNews(gateway, keeper)
  closing.push(
    accounts.onChange(() => {
      keeper.say({ t: 'accounts' })
    }),
  )
  const certificate = await openCertificate(settings.tls)
  const listener = makePublicListener(gateway, settings, {
    certificate,
    memory,
    holdings: holdings.of('connections'),
    openDashboard: openDashboard(gateway, accounts),
    onIgnoredProxy: warnOfProxy(log),
  })
  registerRoutes(gateway, metrics)
  registerBacklog(metrics, () => journal.charging.counters.contents().length)
  registerClients(gateway, metrics, listener)
  started.probing?.takeAll(await patiently(() => keeper.reports()))
  const serving = {
    gateway,
    metrics,
    records,
    journal,
    certificate,
    accounts,
    keys,
    log,
    sockets: listener.sockets,
    served: (said: Served) => whatToServe(said, keeper, { dir, env }),
  }
  started.is(serving, served)
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
      Object.assign(drain, {
        leaving,
        spread,
        passOn: passesOn === true && certificate === null ? passOn : null,
      })
      return closing.close()
    },
  }
}

/** The configuration that the keeper serves. One of another version of the program has it in another shape: then it is read here. */
async function whatToServe(
  said: Served,
  keeper: KeeperClient,
  files: Pick<AppOptions, 'dir' | 'env'>,
): Promise<Served> {
  if (keeper.version === programVersion) return said
  const { config, snapshot } = await loadValid(files)
  return { config, version: snapshot.version }
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
