/** Heads do not go back for one endpoint: what it was shown is a floor for its next reads of the newest block. */
import { BoundedCache } from '../cache/bounded-cache.ts'
import { settledFrom } from './scale.ts'
import type { Scale } from './scale.ts'

/** Endpoints remembered, and milliseconds after which a floor yields. */
const KEPT = 50_000
const YIELDS_AFTER = 5_000

/** Newest blocks shown, by endpoint, network and scale. */
export class Floors {
  readonly #shown = new BoundedCache<number>(KEPT, { ttl: YIELDS_AFTER })

  /** The block below which nothing should be served to `reader` now; null when there is none. */
  of(reader: string, network: string, scale: Scale = 'head'): number | null {
    let floor: number | null = null
    for (const other of settledFrom(scale)) {
      const shown = this.#shown.get(keyOf(reader, network, other))
      if (shown !== undefined && shown > (floor ?? -1)) floor = shown
    }
    return floor
  }

  /** A block number was shown. */
  show(reader: string, network: string, head: number, scale: Scale = 'head'): void {
    const key = keyOf(reader, network, scale)
    if (head >= (this.#shown.get(key) ?? 0)) this.#shown.set(key, head)
  }
}

function keyOf(reader: string, network: string, scale: Scale): string {
  return `${network} ${scale} ${reader}`
}
