/** The composition of a worker: everything on a call's path. What is the machine's is asked of the keeper. */
import { setTimeout as pause } from 'node:timers/promises'
import { join } from 'node:path'
import type { Socket } from 'node:net'
import { version as programVersion } from '../config/version.ts'
import { systemClock } from '../ports/clock.ts'
import { ByteBudget } from '../limits/byte-budget.ts'
import { Asking } from '../limits/shared/asking.ts'
import { SharedLimits } from '../limits/shared/limits.ts'
import type { Certificate } from '../http/certificate.ts'
import { makePublicListener } from '../http/public-listener.ts'
import type { Gateway } from '../call/gateway.ts'
import type { Logger } from '../observe/log.ts'
import { Metrics } from '../observe/metrics.ts'
import { inTimeSlices } from '../reload/time-slices.ts'
import { networkState } from '../routes/network-state.ts'
import { compileInSteps } from '../snapshot/compile.ts'
import { HandedOver } from '../stores/sqlite/usage/journals/hand-over.ts'
import { openOwnJournal } from '../stores/sqlite/usage/journals/left.ts'
import { KeeperClient } from '../workers/keeper-client.ts'
import type { KeeperClientOptions } from '../workers/keeper-client.ts'
import { SOCKET } from '../workers/messages.ts'
import type { Served, WorkerState } from '../workers/messages.ts'
import type { WorkerRole } from '../workers/role.ts'
import { answerExplain } from './answer-explain.ts'
import { orUndo } from './app.ts'
import type { AppOptions } from './begin.ts'
import type { Closing } from './closing.ts'
import { makeGateway } from './gateway.ts'
import { logJournal } from './log-journal.ts'
import { openCertificate, renewCertificate } from './open-certificate.ts'
import { openDashboard } from './open-dashboard.ts'
import { openPublic } from './open-listeners.ts'
import { openAccountStore } from './stores.ts'
import { swap } from './swap.ts'

/** Milliseconds between two reports of what was taken from shared limits. */
const REPORT = 25
/** Milliseconds that the keeper gets to come up, and between two looks. */
const KEEPER_PATIENCE = 30_000
const LOOK = 20

/** A running worker. */
export interface RunningWorker {
  readonly log: Logger
  /** Serves a connection that the primary has accepted. */
  connection(socket: Socket): void
  /** Drains and closes everything; connections that still come are taken, or left to others. */
  stop(takesLast: boolean): Promise<void>
}

/** Starts a worker; rejects with one sentence for the operator. */
export function startWorker(options: Omit<AppOptions, 'dir'>, role: WorkerRole): Promise<RunningWorker> {
  return orUndo(closing => open(options, role, closing))
}

async function open(
  { env, makeLog }: Omit<AppOptions, 'dir'>,
  { slot, workers, dataDir, fd }: WorkerRole,
  closing: Closing,
): Promise<RunningWorker> {
  const metrics = new Metrics()
  const answers: { given: KeeperClientOptions['answers'] } = { given: NOT_YET }
  const keeper = await connect(join(dataDir, SOCKET), slot, answers, closing)
  const { config, version } = await keeper.config()
  const snapshot = await inTimeSlices(compileInSteps(config, version))
  const settings = snapshot.gateway
  const log = makeLog(settings.log.level).child({ worker: slot })
  const { accounts, keys } = await openAccountStore(dataDir, env, log, closing)
  const own = openOwnJournal(dataDir, slot)
  const journal = new HandedOver(own.database, own.file, logJournal(metrics, log), batch =>
    keeper.takeOver(batch),
  )
  closing.push(async () => {
    own.leave(await journal.close())
  })
  const asking = new Asking({ store: keeper, clock: systemClock, every: REPORT, processes: workers })
  closing.push(() => asking.close())
  const memory = new ByteBudget(() => gateway.snapshot.gateway.limits.memory / workers)
  const parts = {
    ...{ accounts, keys, metrics, log, memory },
    limits: new SharedLimits(asking),
    journal: journal.charging,
    usage: keeper,
    openProbing: () => ({ watch: () => undefined, close: () => undefined }),
  }
  const gateway = makeGateway(snapshot, parts, closing)
  const certificate = await openCertificate(settings.tls)
  const listener = makePublicListener(gateway, settings, {
    ...{ certificate, memory },
    openDashboard: openDashboard(gateway, accounts),
  })
  answers.given = answersOf({ gateway, metrics, journal, certificate, log })
  let takesLast = true
  if (fd !== null) await openPublic(gateway, listener, { fd }, closing, () => takesLast)
  return {
    log,
    connection: socket => {
      listener.server.emit('connection', socket)
      socket.resume()
    },
    stop: takes => {
      takesLast = takes
      return closing.close()
    },
  }
}

/** A way to the keeper, once it is there: it may be starting. */
async function connect(
  path: string,
  slot: number,
  answers: { readonly given: KeeperClientOptions['answers'] },
  closing: Closing,
): Promise<KeeperClient> {
  const keeper = new KeeperClient({
    ...{ path, slot, version: programVersion },
    answers: {
      held: said => answers.given.held(said),
      take: said => answers.given.take(said),
      state: said => answers.given.state(said),
      metrics: said => answers.given.metrics(said),
      explain: said => answers.given.explain(said),
    },
  })
  closing.push(() => {
    keeper.close()
  })
  const end = performance.now() + KEEPER_PATIENCE
  while (!keeper.isConnected) {
    if (performance.now() > end) throw new Error('the keeper of this gateway does not answer')
    await pause(LOOK)
  }
  return keeper
}

const starting = (): never => {
  throw new Error('this worker is starting')
}

/** What it answers while it starts. */
const NOT_YET: KeeperClientOptions['answers'] = {
  held: () => ({ isTaken: true }),
  ...{ take: starting, state: starting, metrics: starting, explain: starting },
}

/** What the keeper's questions are answered from. */
interface Answered {
  readonly gateway: Gateway
  readonly metrics: Metrics
  readonly journal: HandedOver
  readonly certificate: Certificate | null
  readonly log: Logger
}

function answersOf(parts: Answered): KeeperClientOptions['answers'] {
  const { gateway, metrics, journal } = parts
  // One after another, in the order in which they came.
  let last: Promise<unknown> = Promise.resolve()
  return {
    held: async () => ({ isTaken: await journal.handOver() }),
    take: served => {
      const taken = last.then(() => take(served, parts))
      last = taken.catch(() => undefined)
      return taken
    },
    state: () => stateOf(parts),
    metrics: async () => ({ text: (await metrics.text()).toString() }),
    explain: ({ body }) => {
      const reply = answerExplain(body, gateway)
      return { status: reply.status, json: 'json' in reply ? reply.json : null }
    },
  }
}

async function take(
  { config, version }: Served,
  { gateway, certificate, log }: Answered,
): Promise<{ readonly version: string }> {
  const { tls } = config.gateway
  if (certificate !== null && tls !== null) await renewCertificate(certificate, tls)
  if (version !== gateway.snapshot.version)
    await swap(gateway, await inTimeSlices(compileInSteps(config, version)), log)
  return { version }
}

function stateOf({ gateway, journal }: Answered): WorkerState {
  const { version, networks } = gateway.snapshot
  return {
    pid: process.pid,
    version,
    failure: journal.charging.failure?.message ?? null,
    networks: Object.values(networks).map(network => networkState(network, gateway.live)),
  }
}
