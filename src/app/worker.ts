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
import type { Leaving } from '../workers/parent.ts'
import type { WorkerRole } from '../workers/role.ts'
import { answerExplain } from './answer-explain.ts'
import { orUndo } from './app.ts'
import { loadValid } from './begin.ts'
import type { AppOptions } from './begin.ts'
import type { Closing } from './closing.ts'
import { makeGateway } from './gateway.ts'
import { logJournal } from './log-journal.ts'
import { openCertificate, renewCertificate } from './open-certificate.ts'
import { openDashboard } from './open-dashboard.ts'
import { openPublic } from './open-listeners.ts'
import type { PublicDrain } from './open-listeners.ts'
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
  /** Drains and closes everything; `spread` milliseconds to close WebSockets over. */
  stop(leaving: Leaving, spread?: number): Promise<void>
}

/** Starts a worker; rejects with one sentence for the operator. */
export function startWorker(options: AppOptions, role: WorkerRole): Promise<RunningWorker> {
  return orUndo(closing => open(options, role, closing))
}

async function open(
  { dir, env, makeLog }: AppOptions,
  { slot, workers, dataDir, fd }: WorkerRole,
  closing: Closing,
): Promise<RunningWorker> {
  const metrics = new Metrics()
  const started = new Started()
  const keeper = await connect(join(dataDir, SOCKET), slot, started, closing)
  const { config, version } = await whatToServe(await keeper.config(), keeper, { dir, env })
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
  started.is({
    gateway,
    metrics,
    journal,
    certificate,
    log,
    served: said => whatToServe(said, keeper, { dir, env }),
  })
  const drain: PublicDrain = {}
  if (fd !== null) await openPublic(gateway, listener, { fd }, closing, drain)
  return {
    log,
    connection: socket => {
      listener.server.emit('connection', socket)
      socket.resume()
    },
    stop: (leaving, spread) => {
      Object.assign(drain, { leaving, spread })
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

/** A way to the keeper, once it is there: it may be starting. */
async function connect(
  path: string,
  slot: number,
  started: Started,
  closing: Closing,
): Promise<KeeperClient> {
  const keeper = new KeeperClient({
    ...{ path, slot, version: programVersion, answers: started.answers },
    serves: () => started.version,
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

/** What the keeper's questions are answered from. */
interface Serving {
  readonly gateway: Gateway
  readonly metrics: Metrics
  readonly journal: HandedOver
  readonly certificate: Certificate | null
  readonly log: Logger
  readonly served: (said: Served) => Promise<Served>
}

/** Answers the keeper, from the moment when this worker serves. */
class Started {
  #serving: Serving | null = null
  #begin: (serving: Serving) => void = () => undefined
  readonly #begun = new Promise<Serving>(resolve => {
    this.#begin = resolve
  })
  /** Configurations are taken one after another. */
  #last: Promise<unknown> = this.#begun

  readonly answers: KeeperClientOptions['answers'] = {
    held: async () => ({ isTaken: (await this.#serving?.journal.handOver()) ?? true }),
    take: said => {
      const taken = this.#last.then(async () => take(said, await this.#begun))
      this.#last = taken.catch(() => undefined)
      return taken
    },
    state: () => stateOf(this.#now),
    metrics: async () => ({ text: (await this.#now.metrics.text()).toString() }),
    explain: ({ body }) => {
      const reply = answerExplain(body, this.#now.gateway)
      return { status: reply.status, json: 'json' in reply ? reply.json : null }
    },
  }

  is(serving: Serving): void {
    this.#serving = serving
    this.#begin(serving)
  }

  /** The version of the configuration that is served; empty while none is. */
  get version(): string {
    return this.#serving?.gateway.snapshot.version ?? ''
  }

  get #now(): Serving {
    if (this.#serving === null) throw new Error('this worker is starting')
    return this.#serving
  }
}

async function take(said: Served, serving: Serving): Promise<{ readonly version: string }> {
  const { gateway, certificate, log } = serving
  const { config, version } = await serving.served(said)
  const { tls } = config.gateway
  if (certificate !== null && tls !== null) await renewCertificate(certificate, tls)
  if (version !== gateway.snapshot.version)
    await swap(gateway, await inTimeSlices(compileInSteps(config, version)), log)
  return { version }
}

function stateOf({ gateway, journal }: Serving): WorkerState {
  const { version, networks } = gateway.snapshot
  return {
    pid: process.pid,
    version,
    failure: journal.charging.failure?.message ?? null,
    networks: Object.values(networks).map(network => networkState(network, gateway.live)),
  }
}
