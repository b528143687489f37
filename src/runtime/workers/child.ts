/** A process that the primary has started, and starts again when it ends by itself. */
import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import type { Order, Report } from './parent.ts'
import type { ConnectionHandle } from '../../net/connection-handle.ts'
import type { ListeningSocket } from './listening-socket.ts'
import { withRole } from './role.ts'
import type { Role } from './role.ts'

/** Milliseconds before a process that has ended is started again: the first time, and at most where it does not come to serve. */
const SOON = 250
const AT_MOST = 10_000
/** Milliseconds of serving after which it counts as sound: what ended it then was not its start, and it is to be back soon. */
const SOUND = 1_000

/** The first descriptor behind those that a child has anyway: input, output, errors, and the way to the primary. */
export const FIRST_SOCKET = 4

/** How the program is started. */
export interface Program {
  readonly file: string
  readonly args: readonly string[]
  readonly env: NodeJS.ProcessEnv
}

/** What is heard of a child. */
export interface ChildEvents {
  /** It has ended without being told to, and will be started again. */
  ended(how: string, restartMs: number): void
  /** It serves again. */
  back(): void
  /** The operator wants all processes replaced. */
  restart(primary: boolean): void
  /** It leaves, and passes on a connection on which nothing is in flight. */
  passedOn(handle: ConnectionHandle, isKept: boolean): void
}

/** What becomes of a start. */
interface Starting {
  readonly prepared: () => void
  readonly ready: () => void
  readonly failed: () => void
}

/** Keeps one process running until it is told to end. */
export class Child {
  readonly #program: Program
  readonly #role: () => Role
  readonly #sockets: readonly ListeningSocket[]
  readonly #events: ChildEvents
  #process: ChildProcess | null = null
  /** Whether it serves, once that is known; null while it was not prepared. */
  #serving: Promise<boolean> | null = null
  /** Why it has ended, in its own words or by how it did. */
  #why = 'no start'
  #delay = SOON
  #readyAt: number | null = null
  #restart: NodeJS.Timeout | undefined
  #isEnding = false
  #over: () => void = () => undefined

  /** `role` is what it is to be when it is started; `sockets` are passed on as its descriptors from `FIRST_SOCKET` on. */
  constructor(program: Program, role: () => Role, sockets: readonly ListeningSocket[], events: ChildEvents) {
    this.#program = program
    this.#role = role
    this.#sockets = sockets
    this.#events = events
  }

  get pid(): number | null {
    return this.#process?.pid ?? null
  }

  /** Whether it serves now. */
  get isReady(): boolean {
    return this.#readyAt !== null && !this.#isEnding
  }

  /** Why it has ended. */
  get why(): string {
    return this.#why
  }

  /** Starts it for the first time, or has one begin that is prepared. Resolves to whether it serves: when it ends before, it has said why. */
  start(): Promise<boolean> {
    if (this.#serving === null) return this.#begin(this.#role())
    this.send({ t: 'keep' })
    return this.#serving
  }

  /** Starts it beside the one that it follows, until it waits for the end of that one. Resolves to whether it does. */
  prepare(): Promise<boolean> {
    return new Promise(resolve => {
      this.#serving = this.#begin({ ...this.#role(), waits: true } as Role, () => {
        resolve(true)
      })
      void this.#serving.then(resolve)
    })
  }

  /** Starts it again until it serves. */
  keepStarting(): void {
    this.#again(0)
  }

  /** Sends it an order; one that has ended gets none. */
  send(order: Order, socket?: Socket): void {
    if (this.#process?.connected === true) this.#process.send(order, socket, () => undefined)
    else socket?.destroy()
  }

  /** Resolves when it has closed everything: its end may take a moment longer. */
  async closed(): Promise<void> {
    const child = this.#process
    if (child?.connected === true) await once(child, 'disconnect')
  }

  /** Has it finish, and resolves when it is gone: by force after `patience` milliseconds. */
  async end(order: Order, patience: number): Promise<void> {
    this.#isEnding = true
    clearTimeout(this.#restart)
    const child = this.#process
    if (child === null) return
    const over = new Promise<void>(resolve => {
      this.#over = resolve
    })
    this.send(order)
    const timer = setTimeout(() => child.kill('SIGKILL'), patience)
    await over
    clearTimeout(timer)
  }

  /** Ends it at once, and for good. */
  kill(): void {
    this.#isEnding = true
    clearTimeout(this.#restart)
    this.#process?.kill('SIGKILL')
  }

  #begin(role: Role, prepared: () => void = () => undefined): Promise<boolean> {
    return new Promise(resolve => {
      this.#fork(role, {
        prepared,
        ready: () => {
          resolve(true)
        },
        failed: () => {
          resolve(false)
        },
      })
    })
  }

  #fork(role: Role, { prepared, ready, failed }: Starting): void {
    const { file, args, env } = this.#program
    const child = fork(file, args, {
      env: withRole(env, role),
      stdio: ['ignore', 'inherit', 'inherit', 'ipc', ...this.#sockets.map(({ fd }) => fd)],
    })
    this.#process = child
    const why: { said?: string } = {}
    child.on('message', (said: Report, handle?: ConnectionHandle) => {
      if (said.t === 'restart') this.#events.restart(said.primary)
      else if (said.t === 'connection') {
        if (handle !== undefined) this.#events.passedOn(handle, said.isKept)
      } else if (said.t === 'failed') why.said = said.why
      else if (said.t === 'prepared') prepared()
      else {
        this.#readyAt = performance.now()
        ready()
      }
    })
    child.on('error', () => undefined)
    child.once('exit', (code, signal) => {
      const servedFor = this.#readyAt === null ? null : performance.now() - this.#readyAt
      this.#process = null
      this.#readyAt = null
      if (this.#isEnding) this.#over()
      this.#why = why.said ?? signal ?? `code ${String(code)}`
      if (servedFor === null) failed()
      else this.#again(servedFor)
    })
  }

  #again(servedFor: number): void {
    if (this.#isEnding) return
    if (servedFor > SOUND) this.#delay = SOON
    const delay = this.#delay
    this.#delay = Math.min(AT_MOST, delay * 2)
    this.#events.ended(this.#why, delay)
    this.#restart = setTimeout(() => {
      void this.#begin(this.#role()).then(isServing => {
        if (isServing) this.#events.back()
        else this.#again(0)
      })
    }, delay)
  }
}
