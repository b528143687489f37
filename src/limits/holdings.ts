/** Counts what an account (or a public address) holds at a time; taking one never waits, so racing takers cannot pass. */
export class Slots {
  readonly #held = new Map<string, number>()

  /** Takes one of at most `limit`; false when all are taken. */
  take(holder: string, limit: number): boolean {
    const held = this.#held.get(holder) ?? 0
    if (held >= limit) return false
    this.#held.set(holder, held + 1)
    return true
  }

  /** Whether one more of at most `limit` could be taken now. */
  fits(holder: string, limit: number): boolean {
    return (this.#held.get(holder) ?? 0) < limit
  }

  /** How many are held now. */
  held(holder: string): number {
    return this.#held.get(holder) ?? 0
  }

  /** Gives one back. */
  free(holder: string): void {
    const held = this.#held.get(holder) ?? 0
    if (held <= 1) this.#held.delete(holder)
    else this.#held.set(holder, held - 1)
  }
}
