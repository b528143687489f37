/** Makes the processes that a primary starts: what each of them is, and which sockets it gets. */
import type { Logger } from '../../observe/log.ts'
import type { Bound } from '../../http/admin/running.ts'
import { Child, FIRST_SOCKET } from './child.ts'
import type { Program } from './child.ts'
import type { ListeningSocket, Sockets } from './listening-socket.ts'
import type { Role } from './role.ts'
import type { ConnectionHandle } from '../../net/connection-handle.ts'

/** What a primary is made of. */
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

/** What the primary knows of the moment. */
export interface Present {
  /** Workers that serve. */
  there(): number
  /** Workers that a restart has still to replace. */
  left(): readonly number[] | null
  /** The operator wants all other processes replaced. */
  restart(): void
  /** A worker that leaves passes a connection on. */
  passedOn(handle: ConnectionHandle, isKept: boolean): void
}

/** Makes children; none of them is started. */
export class Crew {
  readonly #options: PrimaryOptions
  readonly #bound: Bound
  readonly #present: Present

  constructor(options: PrimaryOptions, bound: Bound, present: Present) {
    this.#options = options
    this.#bound = bound
    this.#present = present
  }

  keeper(): Child {
    const { gateway, workers, dataDir, sockets } = this.#options
    const { admin, probes } = sockets
    return this.#child('the keeper', probes === null ? [admin] : [admin, probes], () => ({
      is: 'keeper',
      gateway,
      primary: process.pid,
      workers,
      dataDir,
      bound: this.#bound,
      admin: FIRST_SOCKET,
      probes: probes === null ? null : FIRST_SOCKET + 1,
      there: this.#present.there(),
      restarting: this.#present.left(),
    }))
  }

  worker(slot: number): Child {
    const { workers, isRoundRobin, dataDir, sockets } = this.#options
    const [own, fd] = isRoundRobin ? [[], null] : [[sockets.listen], FIRST_SOCKET]
    return this.#child(`worker ${slot}`, own, () => ({ is: 'worker', slot, workers, fd, dataDir }))
  }

  #child(name: string, sockets: readonly ListeningSocket[], role: () => Role): Child {
    const { program, log, replace } = this.#options
    return new Child(program, role, sockets, {
      ended: (how, restartMs) => {
        log.error({ how, restartMs }, `${name} has ended and is started again`)
      },
      back: () => {
        log.info(`${name} serves again`)
      },
      restart: primary => {
        if (primary) replace()
        else this.#present.restart()
      },
      passedOn: (handle, isKept) => {
        this.#present.passedOn(handle, isKept)
      },
    })
  }
}
