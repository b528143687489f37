/** Another primary that this one has started to take over: of a newer program, or on a newer Node.js. */
import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { FIRST_SOCKET } from './child.ts'
import type { Program } from './child.ts'
import type { ConnectionHandle } from '../../net/connection-handle.ts'
import { sendConnection } from './parent.ts'
import type { Order, Report } from './parent.ts'
import type { Sockets } from './listening-socket.ts'
import { withRole } from './role.ts'

/** Starts it at once; it goes on when this process ends. */
export class NextPrimary {
  readonly #process: ChildProcess
  #why: string | null = null
  /** Whether its workers serve. */
  #takesConnections = false

  constructor({ file, args, env }: Program, gateway: string, { listen, admin, probes }: Sockets) {
    const sockets = [listen, admin, ...(probes === null ? [] : [probes])]
    this.#process = fork(file, args, {
      env: withRole(env, {
        is: 'primary',
        gateway,
        listen: FIRST_SOCKET,
        admin: FIRST_SOCKET + 1,
        probes: probes === null ? null : FIRST_SOCKET + 2,
      }),
      stdio: ['ignore', 'inherit', 'inherit', 'ipc', ...sockets.map(({ fd }) => fd)],
    })
    this.#process.on('error', () => undefined)
    this.#process.on('message', (said: Report) => {
      if (said.t === 'failed') this.#why = said.why
      else if (said.t === 'workers') this.#takesConnections = true
    })
    this.#process.once('exit', (code, signal) => {
      this.#why ??= signal ?? `code ${String(code)}`
    })
  }

  /** Why it has ended. */
  get why(): string | null {
    return this.#why
  }

  get pid(): number | null {
    return this.#process.pid ?? null
  }

  /** Whether its workers go on with connections that ours have served. */
  get takesConnections(): boolean {
    return this.#takesConnections
  }

  /** Gives it such a connection. */
  passOn(handle: ConnectionHandle, isKept: boolean): void {
    sendConnection(this.#process, { t: 'connection', isKept }, handle)
  }

  /** Resolves when its workers serve; to false when it ends before. */
  workersServe(): Promise<boolean> {
    return this.#says('workers')
  }

  /** Lets its keeper start, and resolves when all of it serves; to false when it ends before. */
  async serves(): Promise<boolean> {
    const serving = this.#says('ready')
    this.#process.send({ t: 'keep' } satisfies Order, () => undefined)
    const isServing = await serving
    // This process may end now.
    if (this.#process.connected) this.#process.disconnect()
    this.#process.unref()
    return isServing
  }

  /** Ends it while it takes over: its processes leave with it. */
  end(): void {
    this.#process.kill('SIGTERM')
  }

  #says(t: Report['t']): Promise<boolean> {
    return new Promise(resolve => {
      this.#process.on('message', (said: Report) => {
        if (said.t === t) resolve(true)
      })
      this.#process.once('exit', () => {
        resolve(false)
      })
    })
  }
}
