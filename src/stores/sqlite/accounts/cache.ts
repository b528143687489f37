import { BoundedCache } from '../../../limits/bounded-cache.ts'
import { isWellFormed } from './secrets/keys.ts'
import type { AccountStore } from './store.ts'
import type { KeyOwner, Keys } from '../../../ports/keys.ts'

const KNOWN = 100_000
const UNKNOWN = 10_000
const UNKNOWN_TTL = 10_000

/** What the cache needs of the store. */
export type KeySource = Pick<AccountStore, 'findByKey' | 'changedElsewhere' | 'onChange'>

/** Who owns a key, mostly from memory: at most 100 000 keys, and for 10 s each 10 000 that nobody owns. */
export class KeyCache implements Keys {
  readonly #source: KeySource
  readonly #known = new BoundedCache<KeyOwner>(KNOWN)
  readonly #unknown: BoundedCache<true>
  readonly #unsubscribe: () => void
  /** How often something has changed, here or elsewhere: who keeps what `find` said looks again when it moves. */
  changes = 0

  /** `clock` in milliseconds. */
  constructor(source: KeySource, clock: { now(): number } = performance) {
    this.#source = source
    this.#unknown = new BoundedCache(UNKNOWN, { ttl: UNKNOWN_TTL, ttlResolution: 0, perf: clock })
    this.#unsubscribe = source.onChange(keys => {
      this.changes += 1
      for (const key of keys) this.#known.delete(key)
    })
  }

  /** The owner of an API key, as of the last change here or the last poll. */
  find(key: string): KeyOwner | null {
    return this.#known.get(key) ?? this.#lookUp(key)
  }

  /** Forgets everything when another process has changed something; to be called several times a second. */
  poll(): void {
    if (!this.#source.changedElsewhere()) return
    this.changes += 1
    this.#known.clear()
    this.#unknown.clear()
  }

  /** Stops listening to the store. */
  close(): void {
    this.#unsubscribe()
  }

  #lookUp(key: string): KeyOwner | null {
    if (!isWellFormed(key) || this.#unknown.has(key)) return null
    const owner = this.#source.findByKey(key)
    // A slice of a URL keeps the whole URL in memory; a copy does not.
    const copy = Buffer.from(key, 'latin1').toString('latin1')
    if (owner === null) this.#unknown.set(copy, true)
    else this.#known.set(copy, owner)
    return owner
  }
}
