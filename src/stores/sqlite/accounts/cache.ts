import { BoundedCache } from '../../../limits/bounded-cache.ts'
import { systemClock } from '../../../ports/clock.ts'
import type { Clock } from '../../../ports/clock.ts'
import { isWellFormed } from './secrets/keys.ts'
import type { AccountStore } from './store.ts'
import type { KeyOwner, Keys } from '../../../ports/keys.ts'
import { STALE } from '../../../ports/accounts.ts'

const KNOWN = 100_000
const UNKNOWN = 10_000
const UNKNOWN_TTL = 10_000
const HOUR = 3_600

/** What the cache needs of the store. */
export type KeySource = Pick<AccountStore, 'findByKey' | 'changedElsewhere' | 'onChange' | 'recordUse'> &
  Partial<Pick<AccountStore, 'age'>>

/** What is remembered of a key. */
interface Known {
  readonly owner: KeyOwner
  /** Whether it was asked for since use was last written down. */
  isUsed: boolean
}

/** Who owns a key, mostly from memory: at most 100 000 keys, and for 10 s each 10 000 that nobody owns. */
export class KeyCache implements Keys {
  readonly #source: KeySource
  readonly #clock: Pick<Clock, 'now' | 'monotonic'>
  readonly #known = new BoundedCache<Known>(KNOWN)
  readonly #unknown: BoundedCache<true>
  readonly #unsubscribe: () => void
  /** When the first of the remembered keys ends, in Unix seconds. */
  #nextEnd = Infinity
  /** The endpoints whose use is written down, for one hour. */
  readonly #recorded = { hour: 0, ids: new Set<string>() }
  /** How often something has changed, here or elsewhere: who keeps what `find` said looks again when it moves. */
  changes = 0
  /** How old what it knows is, in milliseconds, as of the last poll. */
  age = 0

  constructor(source: KeySource, clock: Pick<Clock, 'now' | 'monotonic'> = systemClock) {
    this.#source = source
    this.#clock = clock
    const perf = { now: () => clock.monotonic() }
    this.#unknown = new BoundedCache(UNKNOWN, { ttl: UNKNOWN_TTL, ttlResolution: 0, perf })
    this.#unsubscribe = source.onChange(keys => {
      this.changes += 1
      for (const key of keys) {
        this.#known.delete(key)
        // It may have been asked for while it had expired.
        this.#unknown.delete(key)
      }
    })
  }

  /** The owner of an API key, as of the last change here or the last poll. */
  find(key: string): KeyOwner | null {
    const known = this.#known.get(key)
    if (known === undefined) return this.#lookUp(key)
    known.isUsed = true
    const { owner } = known
    return owner.until === null || owner.until > this.#clock.now() / 1000 ? owner : null
  }

  /** Forgets everything when another process has changed something, or a key has ended; to be called several times a second. */
  poll(): void {
    this.age = this.#source.age?.() ?? 0
    // Who is connected is looked at again: there may be an end to what is served of an old copy.
    if (this.age > STALE) this.changes += 1
    const hasEnded = this.#clock.now() / 1000 >= this.#nextEnd
    if (!this.#source.changedElsewhere() && !hasEnded) return
    this.changes += 1
    // What was used is not forgotten with it.
    this.recordUse().catch(() => undefined)
    this.#known.clear()
    this.#unknown.clear()
    this.#nextEnd = Infinity
  }

  /** Writes down which endpoints were used in the present hour: each once an hour, however many calls there are. */
  async recordUse(): Promise<void> {
    const hour = Math.floor(this.#clock.now() / 1000 / HOUR) * HOUR
    const { ids } = this.#recorded
    if (hour !== this.#recorded.hour) ids.clear()
    this.#recorded.hour = hour
    const used = new Set<string>()
    for (const known of this.#known.values()) {
      if (known.isUsed && !ids.has(known.owner.endpoint.id)) used.add(known.owner.endpoint.id)
      known.isUsed = false
    }
    if (used.size === 0) return
    for (const id of used) ids.add(id)
    try {
      await this.#source.recordUse([...used], hour)
    } catch (error) {
      // Whoever is used again in this hour is written down then.
      for (const id of used) ids.delete(id)
      throw error
    }
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
    else {
      this.#known.set(copy, { owner, isUsed: true })
      this.#nextEnd = Math.min(this.#nextEnd, owner.until ?? Infinity)
    }
    return owner
  }
}
