/** Notifications that come before the reply to their subscribe request. */
import type { Raw } from '../../jsonrpc/raw.ts'
import { Backlog } from './backlog.ts'
import type { BacklogLimits, ByteBudget } from './backlog.ts'
import type { Notification } from './frame.ts'

/** Bounds of all early notifications of one socket. */
const EARLY: BacklogLimits = { messages: 1_000, bytes: 8 * 1024 * 1024 }

/** Keeps them by the upstream's id, as long as a subscribe request of the socket is in flight. */
export class EarlyNotifications {
  readonly #kept: Backlog<Notification>
  /** Whether some could not be kept: a subscription that begins meanwhile may have missed messages. */
  #overflowed = false

  constructor(budget: ByteBudget | null) {
    this.#kept = new Backlog(budget, EARLY)
  }

  /** Keeps a notification; false when there is no room for it, which costs all that were kept. */
  add(notification: Notification): boolean {
    if (this.#overflowed) return false
    if (this.#kept.push(notification, notification.result.length)) return true
    this.clear(true)
    return false
  }

  /** What came for an id, in order; null when it cannot be known any more. */
  take(id: Raw): Notification[] | null {
    if (this.#overflowed) return null
    const found: Notification[] = []
    for (const notification of this.#kept.drain())
      if (notification.subscription === id) found.push(notification)
      else this.#kept.push(notification, notification.result.length)
    return found
  }

  /** Forgets all of them: no subscribe request is in flight any more, or there were too many. */
  clear(overflowed = false): void {
    this.#kept.drain()
    this.#overflowed = overflowed
  }
}
