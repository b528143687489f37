/** Heads do not go back for one endpoint: what it was shown is a floor for its next reads of the newest block. */
import { LRUCache } from 'lru-cache'

/** Endpoints remembered, and milliseconds after which a floor yields. */
const KEPT = 50_000
const YIELDS_AFTER = 5_000

/** Newest blocks shown, by endpoint and network. */
export class Floors {
  readonly #shown = new LRUCache<string, number>({ max: KEPT, ttl: YIELDS_AFTER })

  /** The block below which nothing should be served to `reader` now; null when there is none. */
  of(reader: string, network: string): number | null {
    return this.#shown.get(`${network} ${reader}`) ?? null
  }

  /** A block number was shown. */
  show(reader: string, network: string, head: number): void {
    const key = `${network} ${reader}`
    if (head >= (this.#shown.get(key) ?? 0)) this.#shown.set(key, head)
  }
}
