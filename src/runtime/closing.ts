/** What has been opened, to be closed in the opposite order. */
export class Closing {
  #steps: (() => unknown)[] = []

  /** Remembers how to close what was just opened. */
  push(step: () => unknown): void {
    this.#steps.push(step)
  }

  /** Closes everything once, last opened first. What fails keeps nothing else open; rejects with the first error when all are closed. */
  async close(): Promise<void> {
    const errors: unknown[] = []
    for (const step of this.#steps.splice(0).reverse())
      try {
        await step()
      } catch (error) {
        errors.push(error)
      }
    if (errors.length > 0) throw errors[0]
  }
}
