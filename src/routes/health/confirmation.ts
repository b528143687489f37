/** A finding about a route that calls suggest, and that holds for everybody once a probe has come to it too. */

/** Milliseconds between two probes for one finding, so that an outdated one ends soon. */
const AGAIN = 5_000
/** Milliseconds for which a finding counts where nothing has it probed again. */
const LIVES = 600_000

/** Times are in milliseconds of a monotonic clock. */
export class Confirmation<T> {
  readonly #probe: () => Promise<T | null | undefined>
  #found: T | null = null
  #foundAt = -Infinity
  #probedAt = -Infinity

  /** `probe` returns the finding, null if it is not true of the route, undefined if the route did not say. */
  constructor(probe: () => Promise<T | null | undefined>) {
    this.#probe = probe
  }

  /** The finding; null if there is none. It is probed again. */
  check(now: number): T | null {
    const found = this.peek(now)
    if (found !== null) this.suspect(now)
    return found
  }

  /** The same without a probe. */
  peek(now: number): T | null {
    return now < this.#foundAt + LIVES ? this.#found : null
  }

  /** Whether a probe would be sent now. */
  isDue(now: number): boolean {
    return now - this.#probedAt >= AGAIN
  }

  /** Probes, unless that was done a moment ago. */
  suspect(now: number): void {
    if (!this.isDue(now)) return
    this.#probedAt = now
    this.#probe().then(
      found => {
        if (found === undefined) return
        this.#found = found
        this.#foundAt = now
      },
      // An odd reply costs this probe only.
      () => undefined,
    )
  }
}
