/** Holds whoever passes through it until the test lets them go. */
export class Gate {
  readonly #waiting: (() => void)[] = []
  #open = false

  /** How many are held now. */
  get held(): number {
    return this.#waiting.length
  }

  /** Resolves when the gate is opened, or when this one is let through. */
  async pass(): Promise<void> {
    if (this.#open) return
    await new Promise<void>(resolve => this.#waiting.push(resolve))
  }

  /** Lets the longest held one go. */
  releaseOne(): void {
    this.#waiting.shift()?.()
  }

  /** Lets everybody go, now and later. */
  open(): void {
    this.#open = true
    for (const resolve of this.#waiting.splice(0)) resolve()
  }
}
