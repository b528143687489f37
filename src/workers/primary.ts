/** The process that starts all others: owns the listening sockets, starts again what ends, and passes signals on. It serves nothing itself. */
import type { Logger } from '../observe/log.ts'
import type { Bound } from '../http/admin/running.ts'
import { Child, FIRST_SOCKET } from './child.ts'
import type { Program } from './child.ts'
import type { ListeningSocket } from './listening-socket.ts'
import type { Role } from './role.ts'

/** Milliseconds beyond its drain that a process gets before it is ended by force. */
const BEYOND_DRAIN = 10_000

/** The sockets of a gateway; they are open as long as the primary lives. */
export interface Sockets {
  readonly listen: ListeningSocket
  readonly admin: ListeningSocket
  readonly probes: ListeningSocket | null
}

/** What the primary is made of. */
export interface PrimaryOptions {
  readonly program: Program
  readonly workers: number
  /** Whether connections are handed to one worker after another; otherwise whoever is free first accepts them. */
  readonly isRoundRobin: boolean
  readonly sockets: Sockets
  readonly dataDir: string
  /** Milliseconds that calls in flight get at the end. */
  readonly drain: number
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
    const isKept = await this.#keeper.start()
    const served = isKept ? await Promise.all(this.#workers.map(worker => worker.start())) : [false]
    if (!served.includes(false)) {
      if (this.#options.isRoundRobin) this.#handOver()
      return true
    }
    await this.stop()
    return false
  }

  /** Has the configuration read again. */
  reload(): void {
    this.#keeper.tell({ t: 'reload' })
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
    this.#keeper.tell({ t: 'restarting', left: null })
    if (isDone) log.info('all processes are restarted')
  }

  /** Ends all: the workers first, as the keeper takes over what they have charged. */
  async stop(): Promise<void> {
    this.#isStopping = true
    const order = { t: 'drain', leaving: 'with all' } as const
    const patience = this.#options.drain + BEYOND_DRAIN
    const workers = this.#coming === null ? this.#workers : [...this.#workers, this.#coming]
    await Promise.all(workers.map(worker => worker.end(order, patience)))
    const { listen, admin, probes } = this.#options.sockets
    listen.close()
    await this.#keeper.end(order, BEYOND_DRAIN)
    admin.close()
    probes?.close()
  }

  /** Accepts connections, and hands each to the next worker. */
  #handOver(): void {
    let last = 0
    this.#options.sockets.listen.accept(socket => {
      // One that has ended is back soon: its connections go to the others until then.
      const ready = this.#workers.filter(({ isReady }) => isReady)
      if (this.#isStopping || ready.length === 0) socket.destroy()
      else ready[(last += 1) % ready.length]?.tell({ t: 'connection' }, socket)
    })
  }

  get #slots(): number[] {
    return Array.from({ length: this.#options.workers }, (_, i) => i + 1)
  }

  async #restartWorkers(): Promise<boolean> {
    const { log, drain } = this.#options
    const spread = Math.max(LEAST_SPREAD, SPREAD / this.#workers.length)
    const slots = this.#slots
    for (const slot of slots) {
      this.#keeper.tell({ t: 'restarting', left: slots.slice(slot - 1) })
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
    const { workers, sockets } = this.#options
    const { admin, probes } = sockets
    return this.#child('the keeper', probes === null ? [admin] : [admin, probes], {
      ...{ is: 'keeper', primary: process.pid, workers, bound: this.bound },
      ...{ admin: FIRST_SOCKET, probes: probes === null ? null : FIRST_SOCKET + 1 },
    })
  }

  #newWorker(slot: number): Child {
    const { workers, isRoundRobin, dataDir, sockets } = this.#options
    const fd = isRoundRobin ? null : FIRST_SOCKET
    const role = { is: 'worker', slot, workers, fd, dataDir } as const
    return this.#child(`worker ${slot}`, isRoundRobin ? [] : [sockets.listen], role)
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
      restart: () => {
        void this.restart()
      },
    })
  }
}
