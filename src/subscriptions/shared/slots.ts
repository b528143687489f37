/** Subscriptions that accounts (on the public route: addresses) hold, those included that are kept after the last listener left. */
import type { Holdings } from '../../ports/holdings.ts'
import type { MaybePromise } from '../../ports/maybe-promise.ts'

/** A subscription that nobody listens to, kept at the upstream in the slot of who was the last to leave it. */
export interface Kept {
  /** Ends it; resolves when nothing of it is left at the node. Always the same promise. */
  end(): Promise<void>
}

/** Counts slots. Whatever is open at an upstream, or being opened or ended there, stands in the slot of somebody. */
export class SubscriptionSlots {
  readonly #holdings: Holdings
  /** By holder, in the order in which they were left. Each is one of those taken. */
  readonly #kept = new Map<string, Set<Kept>>()

  constructor(holdings: Holdings) {
    this.#holdings = holdings
    holdings.whenShort(async (name, count) => this.#endUnused(name, count))
  }

  part(name: string, limit: number): MaybePromise<number> {
    return this.#holdings.part(name, limit)
  }

  /**
   * Takes one of at most `limit` slots, so that racing takers cannot pass the limit; false when there is none. Where all are taken, the oldest
   * kept subscriptions of that holder end for it, which is waited for.
   */
  take(name: string, limit: number): MaybePromise<boolean> {
    const taking = this.#holdings.take(name, limit)
    if (taking instanceof Promise) return taking.then(isTaken => isTaken || this.#takeFromKept(name, limit))
    return taking || this.#takeFromKept(name, limit)
  }

  /** Gives one back. */
  free(name: string): void {
    this.#holdings.free(name)
  }

  /** The slot of a listener is the slot of what is kept, from now on. */
  keep(name: string, kept: Kept): void {
    const all = this.#kept.get(name)
    if (all === undefined) this.#kept.set(name, new Set([kept]))
    else all.add(kept)
  }

  /** A kept one is over, or somebody listens to it again: whether its slot was still its own. */
  unkeep(name: string, kept: Kept): boolean {
    const all = this.#kept.get(name)
    const was = all?.delete(kept) ?? false
    if (all?.size === 0) this.#kept.delete(name)
    return was
  }

  #takeFromKept(name: string, limit: number): MaybePromise<boolean> {
    // One that was told of no slot may hear later that there are fewer held.
    const surplus = Math.max(1, this.#holdings.held(name) + 1 - limit)
    const all = this.#kept.get(name)
    if (all === undefined || surplus > all.size) return false
    const ended = [...all].slice(0, surplus)
    for (const [i, kept] of ended.entries()) {
      this.unkeep(name, kept)
      // One of their slots is taken.
      if (i > 0) this.free(name)
    }
    return Promise.all(ended.map(async kept => kept.end())).then(() => true)
  }

  /** Another process needs them. Each gives its slot back when it has ended. */
  async #endUnused(name: string, count: number): Promise<void> {
    const ended = [...(this.#kept.get(name) ?? [])].slice(0, count)
    await Promise.all(ended.map(async kept => kept.end()))
  }
}
