/** Whether a worker answers: one that hangs keeps its connection, and whoever asks all workers would wait for it. */

/** Milliseconds between two looks at all workers. */
export const LOOK_EVERY = 500
/**
 * Looks without an answer after which a worker counts as away. Looks are counted, and not time: a keeper that stood still itself could not hear the
 * answer.
 */
const LOOKS = 4

/** What is done about one worker. */
export interface PulseParts {
  /** Asks it for a sign of life. */
  ping(): Promise<unknown>
  /** It has not answered for two seconds. */
  hangs(): void
  /** It answers again. */
  answers(): void
}

/** The pulse of one worker. */
export class Pulse {
  /** Whether it hangs. */
  isAway = false
  readonly #parts: PulseParts
  #isAsked = false
  #looks = 0

  constructor(parts: PulseParts) {
    this.#parts = parts
  }

  look(): void {
    if (!this.#isAsked) {
      void this.#ask()
      return
    }
    this.#looks += 1
    if (this.#looks < LOOKS || this.isAway) return
    this.isAway = true
    this.#parts.hangs()
  }

  async #ask(): Promise<void> {
    this.#isAsked = true
    this.#looks = 0
    try {
      await this.#parts.ping()
    } catch {
      // Its connection is lost, and the worker with it.
      return
    }
    this.#isAsked = false
    if (!this.isAway) return
    this.isAway = false
    this.#parts.answers()
  }
}
