/** Who hears the messages of a shared subscription. */
import type { Raw } from '../../jsonrpc/raw.ts'
import type { Listener } from '../../ports/subscriptions.ts'
import { Backlog } from '../socket/backlog.ts'
import type { ByteBudget } from '../socket/backlog.ts'

/** A listener whose messages wait until it has been told the id of its subscription. */
export class Member implements Listener {
  readonly #listener: Listener
  #waiting: Backlog<Parameters<Listener['message']>> | null
  #lost = false

  constructor(listener: Listener, budget: ByteBudget | null) {
    this.#listener = listener
    this.#waiting = new Backlog(budget)
  }

  message(result: Raw, last: boolean, route: string | null): void {
    if (this.#waiting === null) this.#listener.message(result, last, route)
    else if (!this.#lost && !this.#waiting.push([result, last, route], result.length))
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
    for (const [result, last, route] of waiting) this.#listener.message(result, last, route)
  }

  /** Forgets what waits: the listener leaves. */
  drop(): void {
    this.#waiting?.drain()
  }
}
