/** Raises `network.down` and `network.up`: no store has their cause, so an event waits here while it cannot be written. */
import type { AlertEvent } from '../config/alerts.ts'
import type { Alert } from '../ports/alerts.ts'

/** Events that wait at most; the oldest leave first. */
const MOST = 1_000

/** What it is made of. */
export interface NetworkAlertsParts {
  readonly wants: (type: AlertEvent) => boolean
  /** Keeps an event. Rejects while nothing can be written. */
  readonly raise: (alert: Alert) => Promise<unknown>
  /** Receives why nothing can be written. */
  readonly broken: (error: unknown) => void
}

/** Writes events in their order, one at a time. */
export class NetworkAlerts {
  readonly #parts: NetworkAlertsParts
  readonly #waiting: Alert[] = []
  #isWriting = false

  constructor(parts: NetworkAlertsParts) {
    this.#parts = parts
  }

  add(type: AlertEvent, data: Alert['data']): void {
    if (!this.#parts.wants(type)) return
    this.#waiting.push({ type, accountId: null, data })
    if (this.#waiting.length > MOST) this.#waiting.shift()
    this.write()
  }

  /** Writes what waits; what cannot be written waits for the next call. */
  write(): void {
    if (!this.#isWriting) void this.#writeAll()
  }

  async #writeAll(): Promise<void> {
    const { raise, broken } = this.#parts
    this.#isWriting = true
    try {
      for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
        await raise(next)
        const at = this.#waiting.indexOf(next)
        if (at >= 0) this.#waiting.splice(at, 1)
      }
    } catch (error) {
      broken(error)
    } finally {
      this.#isWriting = false
    }
  }
}
