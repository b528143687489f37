/** The process that starts all others: owns the listening sockets, starts again what ends, and passes signals on. It serves nothing itself. */
import type { Logger } from '../observe/log.ts'
import type { Bound } from '../http/admin/running.ts'
import { Child, FIRST_SOCKET } from './child.ts'
import type { Program } from './child.ts'
import type { ListeningSocket, Sockets } from './listening-socket.ts'
import { NextPrimary } from './next-primary.ts'
import type { Role } from './role.ts'

/** Milliseconds beyond its drain that a process gets before it is ended by force. */
const BEYOND_DRAIN = 10_000

/** What the primary is made of. */
export interface PrimaryOptions {
  readonly program: Program
  /** What the gateway is called from its start to its end. */
  readonly gateway: string
  readonly workers: number
  /** Whether connections are handed to one worker after another; otherwise whoever is free first accepts them. */
  readonly isRoundRobin: boolean
  readonly sockets: Sockets
  readonly dataDir: string
  /** Milliseconds that calls in flight get at the end. */
  readonly drain: number
  /** The operator wants this process replaced as well. */
  readonly replace: () => void
  readonly log: Logger
}

/** Milliseconds over which a restart closes WebSockets, and at least for each worker. */
const SPREAD = 20_000
const LEAST_SPREAD = 2_000

/** A keeper and its workers. */
export class Primary {
  readonly bound: Bound
  readonly #options: PrimaryOptions
  #keeper: Child
  readonly #workers: Child[]
  /** Those that are to follow others, while a restart waits for them. */
  #coming: Child | null = null
  #next: NextPrimary | null = null
  #isRestarting = false
  #isStopping = false

  constructor(options: PrimaryOptions) {
    const { listen, admin, probes } = options.sockets
    this.#options = options
    this.bound = {
      ...{ listen: listen.address, admin: admin.address },
      ...(probes === null ? {} : { probes: probes.address }),
    }
    this.#keeper = this.#newKeeper()
    this.#workers = this.#slots.map(slot => this.#newWorker(slot))
  }

  /** Starts all. Resolves to whether they serve: when one of them could not start, it has said why, and all have ended. */
  async start(): Promise<boolean> {
    if ((await this.#keeper.start()) && (await this.#startWorkers())) return true
    await this.stop()
    return false
  }

  /**
   * The same beside an older primary: the workers begin with its keeper. `mayKeep` is called when they serve, and resolves when that keeper is gone;
   * ours then starts until it serves. Where the older one is killed meanwhile (`gone`), ours starts at once: the workers wait for it.
   */
  async startBeside(mayKeep: () => Promise<void>, gone: Promise<void>): Promise<boolean> {
    const own = { isStarted: false }
    void gone.then(() => {
      if (!own.isStarted) this.#keeper.keepStarting()
      own.isStarted = true
    })
    if (!(await this.#startWorkers())) {
      await this.stop()
      return false
    }
    await mayKeep()
    if (own.isStarted) return true
    own.isStarted = true
    if (!(await this.#keeper.start())) this.#keeper.keepStarting()
    return true
  }

  /** Has the configuration read again. */
  reload(): void {
    this.#keeper.send({ t: 'reload' })
  }

  /** Has the access log opened again. */
  reopenLogs(): void {
    for (const worker of this.#all) worker.send({ t: 'reopenLogs' })
  }

  /**
   * Replaces all processes but this one by new ones, which run the program as it is on the disk by now: the workers one after another, each new one
   * serving before the old one leaves, and the keeper behind them. Ends with the first that does not start, and the others stay.
   */
  async restart(): Promise<void> {
    const { log } = this.#options
    if (this.#isRestarting || this.#isStopping) return
    this.#isRestarting = true
    log.info({ workers: this.#workers.length }, 'restarting all processes, one after another')
    const isDone = await this.#restartWorkers()
    if (isDone) await this.#restartKeeper()
    this.#isRestarting = false
    this.#keeper.send({ t: 'restarting', left: null })
    if (isDone) log.info('all processes are restarted')
  }

  /** Starts another primary, of the program as it is on the disk, and leaves everything to it. Resolves to its id; to null where it does not come up. */
  async handOver(): Promise<number | null> {
    if (this.#isRestarting || this.#isStopping) return null
    this.#isRestarting = true
    const { log, program, gateway, sockets, isRoundRobin } = this.#options
    log.info('a new primary starts, and takes the sockets over')
    const next = (this.#next = new NextPrimary(program, gateway, sockets))
    if (await next.workersServe()) {
      // What is accepted here from now on would be for workers that leave.
      if (isRoundRobin) sockets.listen.close()
      await this.#endWorkers()
      await this.#keeper.end({ t: 'drain', leaving: 'alone' }, BEYOND_DRAIN)
      if (await next.serves()) {
        this.#closeSockets()
        return next.pid
      }
      this.#startAnew()
    } else log.error('the new primary did not start; what is there stays')
    this.#next = null
    this.#isRestarting = false
    this.#keeper.send({ t: 'restarting', left: null })
    return null
  }

  /** Ends all: the workers first, as the keeper takes over what they have charged. */
  async stop(): Promise<void> {
    this.#isStopping = true
    this.#next?.end()
    const order = { t: 'drain', leaving: 'with all' } as const
    await Promise.all(this.#all.map(worker => worker.end(order, this.#options.drain + BEYOND_DRAIN)))
    this.#options.sockets.listen.close()
    await this.#keeper.end(order, BEYOND_DRAIN)
    this.#closeSockets()
  }

  #closeSockets(): void {
    const { listen, admin, probes } = this.#options.sockets
    for (const socket of [listen, admin, probes]) socket?.close()
  }

  async #startWorkers(): Promise<boolean> {
    const served = await Promise.all(this.#workers.map(worker => worker.start()))
    if (served.includes(false)) return false
    if (this.#options.isRoundRobin) this.#accept()
    return true
  }

  async #endWorkers(): Promise<void> {
    const order = { t: 'drain', leaving: 'alone', spread: SPREAD } as const
    await Promise.all(this.#workers.map(worker => worker.end(order, this.#options.drain + BEYOND_DRAIN)))
  }

  #startAnew(): void {
    if (this.#isStopping) return
    this.#options.log.error('the new primary has ended before it served; this one starts its processes again')
    this.#keeper = this.#newKeeper()
    this.#keeper.keepStarting()
    for (const slot of this.#slots) (this.#workers[slot - 1] = this.#newWorker(slot)).keepStarting()
  }

  /** Accepts connections, and hands each to the next worker. */
  #accept(): void {
    let last = 0
    this.#options.sockets.listen.accept(socket => {
      // One that has ended is back soon: its connections go to the others until then.
      const ready = this.#workers.filter(({ isReady }) => isReady)
      if (this.#isStopping || ready.length === 0) socket.destroy()
      else ready[(last += 1) % ready.length]?.send({ t: 'connection' }, socket)
    })
  }

  /** The workers, with one that is to follow another. */
  get #all(): readonly Child[] {
    return this.#coming === null ? this.#workers : [...this.#workers, this.#coming]
  }

  get #slots(): number[] {
    return Array.from({ length: this.#options.workers }, (_, i) => i + 1)
  }

  async #restartWorkers(): Promise<boolean> {
    const { log, drain } = this.#options
    const spread = Math.max(LEAST_SPREAD, SPREAD / this.#workers.length)
    const slots = this.#slots
    for (const slot of slots) {
      this.#keeper.send({ t: 'restarting', left: slots.slice(slot - 1) })
      const next = (this.#coming = this.#newWorker(slot))
      const isServing = await next.start()
      this.#coming = null
      if (this.#isStopping) return false
      if (!isServing) {
        log.error(`the new worker ${slot} did not start; those that are there stay`)
        return false
      }
      const last = this.#workers[slot - 1]
      this.#workers[slot - 1] = next
      await last?.end({ t: 'drain', leaving: 'alone', spread }, drain + BEYOND_DRAIN)
    }
    return true
  }

  /** Workers go on without a keeper for a moment. */
  async #restartKeeper(): Promise<void> {
    await this.#keeper.end({ t: 'drain', leaving: 'alone' }, BEYOND_DRAIN)
    if (this.#isStopping) return
    const next = (this.#keeper = this.#newKeeper())
    if (!(await next.start())) next.keepStarting()
  }

  #newKeeper(): Child {
    const { gateway, workers, dataDir, sockets } = this.#options
    const { admin, probes } = sockets
    return this.#child('the keeper', probes === null ? [admin] : [admin, probes], {
      ...{ is: 'keeper', gateway, primary: process.pid, workers, dataDir, bound: this.bound },
      ...{ admin: FIRST_SOCKET, probes: probes === null ? null : FIRST_SOCKET + 1 },
    })
  }

  #newWorker(slot: number): Child {
    const { workers, isRoundRobin, dataDir, sockets } = this.#options
    const [own, fd] = isRoundRobin ? [[], null] : [[sockets.listen], FIRST_SOCKET]
    return this.#child(`worker ${slot}`, own, { is: 'worker', slot, workers, fd, dataDir })
  }

  #child(name: string, sockets: readonly ListeningSocket[], role: Role): Child {
    const { program, log } = this.#options
    return new Child(program, role, sockets, {
      ended: (how, restartMs) => {
        log.error({ how, restartMs }, `${name} has ended and is started again`)
      },
      back: () => {
        log.info(`${name} serves again`)
      },
      restart: primary => {
        if (primary) this.#options.replace()
        else void this.restart()
      },
    })
  }
}
