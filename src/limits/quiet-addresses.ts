/**
 * What addresses take, told to the store of all machines only once one of them has used a good part of its share: a scan by many addresses neither
 * fills the store nor asks it anything.
 */
import type { Clock } from '../ports/clock.ts'
import type { LimitAnswer, LimitQuestion, LimitStore } from '../ports/limit-store.ts'
import { BoundedCache } from './bounded-cache.ts'
import { newBucket, refill } from './bucket.ts'
import type { Bucket } from './bucket.ts'
import { ADDRESS } from './buckets.ts'

/** Of its share of a limit, what a machine gives an address by itself. */
const OWN = 1 / 4
/** Addresses that are remembered. */
const KEPT = 100_000

/** What this machine has given an address. */
interface Address {
  readonly bucket: Bucket
  /** When the first of what the store has not heard of was taken. */
  since: number
  isShared: boolean
}

/** What it is made of. */
export interface QuietOptions {
  /** The store of all machines, and how many they are. */
  readonly store: LimitStore
  readonly machines: () => number
  readonly isAway: () => boolean
  readonly clock: Pick<Clock, 'monotonic'>
}

/** Stands before a store, and answers for it where it can. */
export class QuietAddresses implements LimitStore {
  readonly #options: QuietOptions
  readonly #addresses = new BoundedCache<Address>(KEPT)

  constructor(options: QuietOptions) {
    this.#options = options
  }

  ask(questions: readonly LimitQuestion[]): ReturnType<LimitStore['ask']> {
    const { store, isAway, clock } = this.#options
    // Who asks has to hear that it is away.
    if (isAway() || !questions.some(({ key }) => key.startsWith(ADDRESS))) return store.ask(questions)
    const now = clock.monotonic()
    const here = questions.map(question => this.#answer(question, now))
    const rest = questions.filter((_, i) => here[i] === null)
    return rest.length === 0 ? here : this.#askRest(rest, here, now)
  }

  async #askRest(
    rest: readonly LimitQuestion[],
    here: readonly (LimitAnswer | null)[],
    now: number,
  ): Promise<readonly (LimitAnswer | null)[]> {
    const known = rest.map(({ key }) => this.#addresses.get(key))
    const asked = rest.map((question, i) => withGiven(question, known[i], now))
    const answers = [...(await this.#options.store.ask(asked))]
    for (const [i, address] of known.entries()) {
      if (address === undefined) continue
      address.isShared = true
      // Full again: what it takes next is no matter of the others.
      if ((answers[i]?.level ?? 0) >= rest[i]!.limit.burst) this.#addresses.delete(rest[i]!.key)
    }
    return here.map(answer => answer ?? answers.shift() ?? null)
  }

  /** Null where the store is to answer. */
  #answer({ key, limit, spent, want }: LimitQuestion, now: number): LimitAnswer | null {
    if (!key.startsWith(ADDRESS)) return null
    let address = this.#addresses.get(key)
    if (address === undefined) {
      address = { bucket: newBucket(limit, now), since: now, isShared: false }
      this.#addresses.set(key, address)
    }
    if (address.isShared) return null
    const { bucket } = address
    refill(bucket, limit, now)
    if (bucket.tokens >= limit.burst) address.since = now
    const own = (limit.burst / this.#options.machines()) * OWN - (limit.burst - bucket.tokens) - spent - want
    if (own < 0) return null
    bucket.tokens -= spent + want
    return { level: bucket.tokens, active: 1, granted: want, own }
  }
}

/** With what the address was given before the store heard of it. */
function withGiven(question: LimitQuestion, address: Address | undefined, now: number): LimitQuestion {
  if (address === undefined || address.isShared) return question
  const { limit, spent, over } = question
  const given = limit.burst - address.bucket.tokens
  return { ...question, spent: spent + given, over: Math.max(over, now - address.since) }
}
