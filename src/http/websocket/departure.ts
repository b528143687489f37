/** Without a stack, which each end of a connection would pay for. */
const LEFT = 'the client left'

/** Tells those who ask for it that a client has left. Most connections are never asked: their signal is made at the first question. */
export class Departure {
  #controller: AbortController | null = null
  #isOver = false

  /** Whether the client has left. */
  get isOver(): boolean {
    return this.#isOver
  }

  /** Aborted once the client has left. */
  get signal(): AbortSignal {
    if (this.#controller === null) {
      this.#controller = new AbortController()
      if (this.#isOver) this.#controller.abort(LEFT)
    }
    return this.#controller.signal
  }

  /** The client leaves. */
  leave(): void {
    this.#isOver = true
    this.#controller?.abort(LEFT)
  }
}
