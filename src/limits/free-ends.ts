import { BoundedCache } from './bounded-cache.ts'

/** Owners of filters remembered, and ends of filters that one of them may have left. */
const KEPT = 100_000
const MOST = 1_000

/**
 * How many filters an owner may still end without rate where that costs nothing: as many as it made. An id stays valid behind its end, and would
 * otherwise be ended at the node again and again.
 */
export class FreeEnds {
  readonly #left = new BoundedCache<number>(KEPT)

  /** The owner has made a filter. */
  add(owner: string): void {
    this.#left.set(owner, Math.min(MOST, (this.#left.get(owner) ?? 0) + 1))
  }

  has(owner: string): boolean {
    return this.#left.has(owner)
  }

  /** The owner ends a filter. */
  use(owner: string): void {
    const left = this.#left.get(owner) ?? 0
    if (left > 1) this.#left.set(owner, left - 1)
    else this.#left.delete(owner)
  }
}
