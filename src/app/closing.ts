/** What has been opened, to be closed in the opposite order. */
export class Closing {
  #steps: (() => unknown)[] = []

  /** Remembers how to close what was just opened. */
  push(step: () => unknown): void {
    this.#steps.push(step)
  }

  /** Closes everything once, last opened first. */
  async close(): Promise<void> {
    for (const step of this.#steps.splice(0).reverse()) await step()
  }
}
