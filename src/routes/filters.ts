/** Filter ids: clients get ids of ours, bound to their endpoint and to the route whose node holds the filter. */
import { randomBytes } from 'node:crypto'
import { BoundedCache } from '../limits/bounded-cache.ts'
import type { Raw } from '../jsonrpc/raw.ts'

/** Filters kept, and milliseconds of idleness after which nodes drop theirs. */
const KEPT = 100_000
const IDLE = 300_000

/** A filter on a node. */
export interface Filter {
  /** Endpoint id, or the address on the public route. */
  readonly owner: string
  readonly network: string
  readonly route: string
  /** The node's own id, raw. */
  readonly upstreamId: Raw
}

/** Knows which node holds which filter. */
export class Filters {
  readonly #filters = new BoundedCache<Filter>(KEPT, { ttl: IDLE, updateAgeOnGet: true })

  /** Remembers a filter; returns the client's id for it, raw: random, so that it cannot be guessed. */
  add(filter: Filter): Raw {
    const id = `"0x${randomBytes(16).toString('hex')}"`
    this.#filters.set(id, filter)
    return id
  }

  /** The filter of a client's id; null when it is unknown, idle for too long, or another's. */
  find(id: Raw, owner: string, network: string): Filter | null {
    const filter = this.#filters.get(id)
    return filter?.owner === owner && filter.network === network ? filter : null
  }

  remove(id: Raw): void {
    this.#filters.delete(id)
  }
}
