import type { Holdings } from '../ports/holdings.ts'

/** Counts what an account (or a public address) holds at a time; taking one never waits, so racing takers cannot pass. */
export class Slots implements Holdings {
  readonly #held = new Map<string, number>()

  /** Takes one of at most `limit`; false when all are taken. */
  take(holder: string, limit: number): boolean {
    const held = this.#held.get(holder) ?? 0
    if (held >= limit) return false
    this.#held.set(holder, held + 1)
    return true
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

  part(holder: string, limit: number): number {
    return this.held(holder) <= limit ? Infinity : limit
  }

  whenShort(): void {
    // There is no other process.
  }
}
