/** Rates that no chain reaches: a node beyond them is broken, or lies. */

/** Messages and bytes within one period. */
export interface Rate {
  readonly messages: number
  readonly bytes: number
}

/** Milliseconds over which a rate is measured. */
const PERIOD = 10_000
const MiB = 1024 * 1024

/** Frames of one socket that belong to no subscription and answer no request. */
export const STRAY: Rate = { messages: 10_000, bytes: 64 * MiB }

/** Messages of a subscription that comes to one per block or slot: a thousand blocks a second. */
export const PER_BLOCK: Rate = { messages: 10_000, bytes: 512 * MiB }
/** Messages of any other subscription: twenty thousand a second. */
export const ANY: Rate = { messages: 200_000, bytes: 2_048 * MiB }

/** Measures a rate. */
export class FloodGauge {
  readonly #rate: Rate
  #since = -Infinity
  #messages = 0
  #bytes = 0

  constructor(rate: Rate) {
    this.#rate = rate
  }

  /** Counts a message; whether that makes more than the rate allows. `now` in milliseconds, monotonic. */
  add(bytes: number, now: number): boolean {
    if (now - this.#since >= PERIOD) {
      this.#since = now
      this.#messages = 0
      this.#bytes = 0
    }
    this.#messages += 1
    this.#bytes += bytes
    return this.#messages > this.#rate.messages || this.#bytes > this.#rate.bytes
  }
}
