/** The process that starts all others: owns the listening sockets, starts again what ends, and passes signals on. It serves nothing itself. */
import type { Bound } from '../../http/admin/running.ts'
import type { ConnectionHandle } from '../../net/connection-handle.ts'
import type { Child } from './child.ts'
import { Crew } from './crew.ts'
import type { PrimaryOptions } from './crew.ts'
import { boundOf, closeAll } from './listening-socket.ts'
import { NextPrimary } from './next-primary.ts'
import type { Socket } from 'node:net'
import { attachPaused } from '../../net/connection-handle.ts'
import type { ListeningSocket } from './listening-socket.ts'

/** Milliseconds beyond its drain that a process gets before it is ended by force. */
const BEYOND_DRAIN = 10_000

/** Milliseconds over which a restart closes WebSockets, and at least for each worker. */
const SPREAD = 20_000
const LEAST_SPREAD = 2_000

/** A keeper and its workers. */
export class Primary {
  readonly bound: Bound
  /** Why it does not start. */
  why = ''
  readonly #options: PrimaryOptions
  readonly #crew: Crew
  #keeper: Child
  readonly #workers: Child[]
  /** Those that are to follow others, while a restart waits for them. */
  #coming: Child | null = null
  #next: NextPrimary | null = null
  #isRestarting = false
  /** Workers that a restart has still to replace. */
  #left: readonly number[] | null = null
  #isStopping = false
  readonly #connections = new Connections(() => (this.#isStopping ? [] : this.#workers))

  constructor(options: PrimaryOptions) {
    this.#options = options
    this.bound = boundOf(options.sockets)
    this.#crew = new Crew(options, this.bound, {
      there: () => this.#workers.filter(({ isReady }) => isReady).length,
      left: () => this.#left,
      restart: () => void this.restart(),
      passedOn: this.passOn,
    })
    this.#keeper = this.#crew.keeper()
    this.#workers = this.#slots.map(slot => this.#crew.worker(slot))
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
    const keep = async (): Promise<void> => {
      if (own.isStarted) return
      own.isStarted = true
      if (!(await this.#keeper.start())) this.#keeper.keepStarting()
    }
    void gone.then(keep)
    if (!(await this.#startWorkers()) || !(own.isStarted || (await this.#prepareKeeper()))) {
      await this.stop()
      return false
    }
    await mayKeep()
    await keep()
    return true
  }

  /** Has the configuration read again. */
  reload(): void {
    this.#keeper.send({ t: 'reload' })
  }

  /** Gives a connection to another worker, which one that leaves has served, or to the next primary for its workers. */
  readonly passOn = (handle: ConnectionHandle, isKept: boolean): void => {
    if (this.#next?.takesConnections === true) this.#next.passOn(handle, isKept)
    else this.#connections.passOn(handle, isKept)
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
    if (this.#isBusy()) return
    this.#isRestarting = true
    log.info({ workers: this.#workers.length }, 'restarting all processes, one after another')
    const isWhole = (await this.#restartWorkers()) && (await this.#restartKeeper())
    this.#isRestarting = false
    this.#tellLeft(null)
    if (isWhole) log.info('all processes are restarted')
  }

  /** Starts another primary, of the program as it is on the disk, and leaves everything to it. Resolves to its id; to null where it does not come up. */
  async handOver(): Promise<number | null> {
    if (this.#isBusy()) return null
    this.#isRestarting = true
    const { log, program, gateway, sockets, isRoundRobin } = this.#options
    log.info('a new primary starts, and takes the sockets over')
    const next = (this.#next = new NextPrimary(program, gateway, sockets))
    if (await next.workersServe()) {
      // What is accepted here from now on would be for workers that leave.
      if (isRoundRobin) sockets.listen.close()
      await this.#endWorkers(next.takesConnections)
      const ended = this.#keeper.end({ t: 'drain', leaving: 'alone' }, BEYOND_DRAIN)
      await this.#keeper.closed()
      const isServing = await next.serves()
      await ended
      if (isServing) {
        closeAll(this.#options.sockets)
        return next.pid
      }
      this.#startAnew()
    } else log.error({ why: next.why }, 'the new primary did not start; what is there stays')
    this.#next = null
    this.#isRestarting = false
    this.#tellLeft(null)
    return null
  }

  /** Whether a restart is under way, or the end: another one is not begun. */
  #isBusy(): boolean {
    if (this.#isStopping) this.#options.log.warn('the gateway stops; a restart is not begun')
    else if (this.#isRestarting) this.#options.log.warn('a restart is under way; another one is not begun')
    return this.#isRestarting || this.#isStopping
  }

  #tellLeft(left: readonly number[] | null): void {
    this.#left = left
    this.#keeper.send({ t: 'restarting', left })
  }

  /** Ends all: the workers first, as the keeper takes over what they have charged. */
  async stop(): Promise<void> {
    this.#isStopping = true
    this.#next?.end()
    this.#keeper.send({ t: 'stopping' })
    const order = { t: 'drain', leaving: 'with all' } as const
    const ended = this.#all.map(worker => worker.end(order, this.#options.drain + BEYOND_DRAIN))
    // The workers have the socket, too, and close it when no more connections come: in ours the last ones would wait for nobody.
    this.#options.sockets.listen.close()
    await Promise.all(ended)
    await this.#keeper.end(order, BEYOND_DRAIN)
    closeAll(this.#options.sockets)
  }

  /** Ends all at once. */
  kill(): void {
    for (const child of [...this.#all, this.#keeper]) child.kill()
    this.#next?.end()
  }

  async #startWorkers(): Promise<boolean> {
    const served = await Promise.all(this.#workers.map(worker => worker.start()))
    const failed = served.indexOf(false)
    if (failed !== -1) {
      this.why = `worker ${failed + 1}: ${this.#workers[failed]?.why ?? ''}`
      return false
    }
    if (this.#options.isRoundRobin) this.#connections.accept(this.#options.sockets.listen)
    return true
  }

  async #prepareKeeper(): Promise<boolean> {
    if (await this.#keeper.prepare()) return true
    this.why = `the keeper: ${this.#keeper.why}`
    return false
  }

  async #endWorkers(passesOn: boolean): Promise<void> {
    const order = { t: 'drain', leaving: 'alone', spread: SPREAD, passesOn } as const
    await Promise.all(this.#workers.map(worker => worker.end(order, this.#options.drain + BEYOND_DRAIN)))
  }

  #startAnew(): void {
    if (this.#isStopping) return
    this.#options.log.error('the new primary has ended before it served; this one starts its processes again')
    this.#keeper = this.#crew.keeper()
    this.#keeper.keepStarting()
    for (const slot of this.#slots) (this.#workers[slot - 1] = this.#crew.worker(slot)).keepStarting()
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
      this.#tellLeft(slots.slice(slot - 1))
      const next = (this.#coming = this.#crew.worker(slot))
      const isServing = await next.start()
      this.#coming = null
      if (this.#isStopping) return false
      if (!isServing) {
        log.error({ why: next.why }, `the new worker ${slot} did not start; those that are there stay`)
        return false
      }
      const last = this.#workers[slot - 1]
      this.#workers[slot - 1] = next
      await last?.end({ t: 'drain', leaving: 'alone', spread, passesOn: true }, drain + BEYOND_DRAIN)
    }
    return true
  }

  /** Workers go on without a keeper for a moment: the next one has read the program and the configuration before this one leaves. */
  async #restartKeeper(): Promise<boolean> {
    this.#tellLeft([])
    const next = (this.#coming = this.#crew.keeper())
    const isPrepared = await next.prepare()
    if (this.#isStopping) return false
    if (!isPrepared) {
      this.#coming = null
      this.#options.log.error({ why: next.why }, 'the new keeper did not start; the one that is there stays')
      return false
    }
    return this.#follow(next)
  }

  async #follow(next: Child): Promise<boolean> {
    void this.#keeper.end({ t: 'drain', leaving: 'alone' }, BEYOND_DRAIN)
    await this.#keeper.closed()
    if (this.#isStopping) return false
    this.#coming = null
    this.#keeper = next
    if (!(await next.start())) next.keepStarting()
    return true
  }
}

/** Whose turn it is. */
export class Connections {
  readonly #workers: () => readonly Child[]
  #last = 0

  /** `workers` are those that may serve now. */
  constructor(workers: () => readonly Child[]) {
    this.#workers = workers
  }

  /** Accepts connections, for the workers. */
  accept(listening: ListeningSocket): void {
    listening.accept(socket => {
      this.#give(socket, false)
    })
  }

  /** Gives one that another worker has served to the next. */
  passOn(handle: ConnectionHandle, isKept: boolean): void {
    this.#give(attachPaused(handle), isKept)
  }

  /** Without any worker it ends. */
  #give(socket: Socket, isKept: boolean): void {
    // One that has ended is back soon: its connections go to the others until then.
    const ready = this.#workers().filter(({ isReady }) => isReady)
    if (ready.length === 0) socket.destroy()
    else ready[(this.#last += 1) % ready.length]?.send({ t: 'connection', isKept }, socket)
  }
}
