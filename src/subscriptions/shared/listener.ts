/** Who hears the messages of a shared subscription. */
import type { Listener, Message } from '../../ports/subscriptions.ts'
import { Backlog } from '../socket/backlog.ts'
import type { ByteBudget } from '../socket/backlog.ts'

/** A listener whose messages wait until it has been told the id of its subscription. */
export class Member implements Listener {
  /** An account, or on the public route an address. */
  readonly holder: string
  readonly #listener: Listener
  #waiting: Backlog<Message> | null
  #lost = false

  constructor(listener: Listener, holder: string, budget: ByteBudget | null) {
    this.holder = holder
    this.#listener = listener
    this.#waiting = new Backlog(budget)
  }

  message(message: Message): void {
    if (this.#waiting === null) this.#listener.message(message)
    else if (!this.#lost && !this.#waiting.push(message, message.result.length))
      this.lost('messages came faster than the subscription could be answered')
  }

  lost(why: string): void {
    this.drop()
    this.#lost = true
    this.#listener.lost(why)
  }

  /** Lets pass what waits, and everything that follows. */
  start(): void {
    const waiting = this.#waiting?.drain() ?? []
    this.#waiting = null
    for (const message of waiting) this.#listener.message(message)
  }

  /** Forgets what waits: the listener leaves. */
  drop(): void {
    this.#waiting?.drain()
  }
}
