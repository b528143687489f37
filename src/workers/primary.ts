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
  readonly sockets: Sockets
  readonly dataDir: string
  /** Milliseconds that calls in flight get at the end. */
  readonly drain: number
  readonly log: Logger
}

/** A keeper and its workers. */
export class Primary {
  readonly bound: Bound
  readonly #options: PrimaryOptions
  readonly #keeper: Child
  readonly #workers: readonly Child[]

  constructor(options: PrimaryOptions) {
    const { workers } = options
    const { listen, admin, probes } = options.sockets
    this.#options = options
    this.bound = {
      ...{ listen: listen.address, admin: admin.address },
      ...(probes === null ? {} : { probes: probes.address }),
    }
    this.#keeper = this.#child('the keeper', probes === null ? [admin] : [admin, probes], {
      ...{ is: 'keeper', primary: process.pid, workers, bound: this.bound },
      ...{ admin: FIRST_SOCKET, probes: probes === null ? null : FIRST_SOCKET + 1 },
    })
    this.#workers = Array.from({ length: workers }, (_, i) => {
      const { dataDir } = options
      const slot = i + 1
      const role = { is: 'worker', slot, workers, fd: FIRST_SOCKET, dataDir } as const
      return this.#child(`worker ${slot}`, [listen], role)
    })
  }

  /** Starts all. Resolves to whether they serve: when one of them could not start, it has said why, and all have ended. */
  async start(): Promise<boolean> {
    const isKept = await this.#keeper.start()
    const served = isKept ? await Promise.all(this.#workers.map(worker => worker.start())) : [false]
    if (!served.includes(false)) return true
    await this.stop()
    return false
  }

  /** Has the configuration read again. */
  reload(): void {
    this.#keeper.tell({ t: 'reload' })
  }

  /** Ends all: the workers first, as the keeper takes over what they have charged. */
  async stop(): Promise<void> {
    const patience = this.#options.drain + BEYOND_DRAIN
    await Promise.all(this.#workers.map(worker => worker.end({ t: 'drain', takesLast: true }, patience)))
    const { listen, admin, probes } = this.#options.sockets
    listen.close()
    await this.#keeper.end({ t: 'drain', takesLast: true }, BEYOND_DRAIN)
    admin.close()
    probes?.close()
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
    })
  }
}
