/** Gives connections to workers, one after another: those that the primary accepts, and those that a worker which leaves passes on. */
import type { Socket } from 'node:net'
import { attachPaused } from '../net/connection-handle.ts'
import type { ConnectionHandle } from '../net/connection-handle.ts'
import type { Child } from './child.ts'
import type { ListeningSocket } from './listening-socket.ts'

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
