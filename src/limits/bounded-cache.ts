/** The one way to keep at most so many things: the one that was not asked for longest makes room. */
import { LRUCache } from 'lru-cache'

/** How long entries last, as lru-cache has it, in milliseconds. */
export type Lifetime = Pick<
  LRUCache.OptionsBase<string, object, unknown>,
  'ttl' | 'ttlResolution' | 'updateAgeOnGet' | 'perf'
>

/** A cache of at most `most` entries. Its memory grows as it fills: with `max`, lru-cache would take all of it at the start. */
export class BoundedCache<V extends object | number | true> extends LRUCache<string, V> {
  constructor(most: number, lifetime: Lifetime = {}) {
    super({ maxSize: most, sizeCalculation: one, ...lifetime })
  }
}

function one(): number {
  return 1
}
