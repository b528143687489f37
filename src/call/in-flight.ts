/** The messages that are being handled. */
import { InTurns } from '../net/in-turns.ts'

/** A caller may have thousands. */
const turns = new InTurns()

/** One message, and how to end it early. */
export interface Handling {
  /** Where it stands, -1 once it is over; ours. */
  at: number
  /** Answers it early; what comes of it later is said to nobody. */
  readonly cutShort: () => void
  /** The same, with why, where its caller may call no longer and it ends with that. */
  readonly endIfDenied: () => void
  /** Who waits for its end. */
  waiting: (() => void)[] | null
}

/**
 * The messages being handled. An array whose holes are filled from its end, not a Map: the hash tables that a busy Map leaves
 * behind keep each other alive, and with them every message they held, until the next full collection.
 */
export class InFlight {
  readonly #messages: Handling[] = []
  #idle: (() => void)[] = []

  get size(): number {
    return this.#messages.length
  }

  /** Keeps a message until `remove`. */
  add(cutShort: () => void, endIfDenied: () => void): Handling {
    const message: Handling = { at: this.#messages.length, cutShort, endIfDenied, waiting: null }
    this.#messages.push(message)
    return message
  }

  remove(message: Handling): void {
    const last = this.#messages.pop()
    if (last !== undefined && last !== message) {
      this.#messages[message.at] = last
      last.at = message.at
    }
    message.at = -1
    if (message.waiting !== null) for (const resolve of message.waiting) resolve()
    if (this.#messages.length === 0) for (const resolve of this.#idle.splice(0)) resolve()
  }

  /** Ends every message early. */
  cutShort(): void {
    for (const message of [...this.#messages]) message.cutShort()
  }

  /** Ends the messages of callers who are denied by now, soon. */
  endDenied(): void {
    for (const message of this.#messages)
      turns.add(() => {
        if (message.at >= 0) message.endIfDenied()
      })
  }

  /** Resolves when the current messages are over. */
  allOver(): Promise<unknown> {
    return Promise.all(
      this.#messages.map(
        message =>
          new Promise<void>(resolve => {
            message.waiting ??= []
            message.waiting.push(resolve)
          }),
      ),
    )
  }

  /** Resolves when there is no message. */
  idle(): Promise<void> {
    return this.#messages.length === 0 ? Promise.resolve() : new Promise(resolve => this.#idle.push(resolve))
  }
}
