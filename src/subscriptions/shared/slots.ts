/** Subscriptions that accounts (on the public route: addresses) hold, those included that are kept after the last listener left. */

/** A subscription that nobody listens to, kept at the upstream in the slot of who was the last to leave it. */
export interface Kept {
  /** Ends it; resolves when nothing of it is left at the node. Always the same promise. */
  end(): Promise<void>
}

interface Holder {
  taken: number
  /** In the order in which they were left. Each is one of those taken. */
  readonly kept: Set<Kept>
}

/** Counts slots. Whatever is open at an upstream, or being opened or ended there, stands in the slot of somebody. */
export class SubscriptionSlots {
  readonly #holders = new Map<string, Holder>()

  /**
   * Takes one of at most `limit` slots, at once, so that racing takers cannot pass the limit. Where all are taken, the oldest
   * kept subscriptions of that holder end for it: resolves when they have. Null when there is nothing to end.
   */
  take(name: string, limit: number): Promise<unknown> | null {
    const holder = this.#holders.get(name) ?? { taken: 0, kept: new Set() }
    const surplus = Math.max(0, holder.taken + 1 - limit)
    if (surplus > holder.kept.size) return null
    this.#holders.set(name, holder)
    const ending: Promise<void>[] = []
    for (const kept of holder.kept) {
      if (ending.length === surplus) break
      holder.kept.delete(kept)
      ending.push(kept.end())
    }
    holder.taken += 1 - surplus
    return Promise.all(ending)
  }

  /** Gives one back. */
  free(name: string): void {
    const holder = this.#holders.get(name)
    if (holder === undefined) return
    holder.taken -= 1
    if (holder.taken <= 0) this.#holders.delete(name)
  }

  /** The slot of a listener is the slot of what is kept, from now on. */
  keep(name: string, kept: Kept): void {
    this.#holders.get(name)?.kept.add(kept)
  }

  /** A kept one is over, or somebody listens to it again: whether its slot was still its own. */
  unkeep(name: string, kept: Kept): boolean {
    return this.#holders.get(name)?.kept.delete(kept) ?? false
  }
}
