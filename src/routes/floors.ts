/** Heads do not go back for one endpoint: what it was shown is a floor for its next reads of the newest block. */
import { BoundedCache } from '../limits/bounded-cache.ts'
import { settledFrom } from '../families/solana/scale.ts'
import type { Scale } from '../families/solana/scale.ts'

/** Endpoints remembered of a network, and milliseconds after which a floor yields. */
const KEPT = 20_000
const YIELDS_AFTER = 5_000

/** Newest blocks shown, by endpoint, network and scale. */
export class Floors {
  /** By network and scale; made with the first block shown there. */
  readonly #shown = new Map<string, Map<Scale, BoundedCache<number>>>()

  /** The block below which nothing should be served to `reader` now; null when there is none. */
  of(reader: string, network: string, scale: Scale = 'head'): number | null {
    const scales = this.#shown.get(network)
    if (scales === undefined) return null
    let floor: number | null = null
    for (const other of settledFrom(scale)) {
      const shown = scales.get(other)?.get(reader)
      if (shown !== undefined && shown > (floor ?? -1)) floor = shown
    }
    return floor
  }

  /** A block number was shown. */
  show(reader: string, network: string, head: number, scale: Scale = 'head'): void {
    let scales = this.#shown.get(network)
    if (scales === undefined) this.#shown.set(network, (scales = new Map<Scale, BoundedCache<number>>()))
    let readers = scales.get(scale)
    if (readers === undefined) scales.set(scale, (readers = new BoundedCache(KEPT, { ttl: YIELDS_AFTER })))
    if (head >= (readers.get(reader) ?? 0)) readers.set(reader, head)
  }
}
