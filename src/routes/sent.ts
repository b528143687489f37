/** Which routes have taken a transaction: until the network has heard of it, others know nothing of it. */
import { BoundedCache } from '../limits/bounded-cache.ts'

/** Transactions, and readers who sent some, that are remembered of a network, and milliseconds. */
const KEPT = 20_000
const LIVES = 60_000

const NONE: readonly string[] = []

type Takers = BoundedCache<readonly string[]>

/** A transaction that a route has taken. */
export interface SentNews {
  readonly network: string
  /** The digits of its hash, in lower case. */
  readonly hash: string
  /** Whose call it was: the endpoint, or on the public route the address. */
  readonly reader: string
  readonly route: string
}

/** Transactions that went through this machine, by network. Nothing is made of a network without any. */
export class Sent {
  readonly #byHash = new Map<string, Takers>()
  readonly #byReader = new Map<string, Takers>()
  #listener: (news: SentNews) => void = () => undefined

  /** Calls `listener` when a route takes a transaction for a client of this process. */
  whenTaken(listener: (news: SentNews) => void): void {
    this.#listener = listener
  }

  /** A route has taken a transaction. */
  add(news: SentNews): void {
    if (this.takeIn(news)) this.#listener(news)
  }

  /** Takes in what another process of this machine has sent; false where it was known. */
  takeIn({ network, hash, reader, route }: SentNews): boolean {
    const takers = this.takers(network, hash)
    if (takers.includes(route)) return false
    cacheOf(this.#byHash, network).set(hash, [...takers, route])
    // What a later transaction of the reader went to knows its newest nonce; all that took it do.
    cacheOf(this.#byReader, network).set(reader, [...takers, route])
    return true
  }

  /** Whether any transaction of the network is remembered, or was. */
  any(network: string): boolean {
    return this.#byHash.has(network)
  }

  /** The routes that took a transaction, the first to do so first. */
  takers(network: string, hash: string): readonly string[] {
    return this.#byHash.get(network)?.get(hash) ?? NONE
  }

  /** Those that took the last transaction of a reader. */
  lastOf(network: string, reader: string): readonly string[] {
    return this.#byReader.get(network)?.get(reader) ?? NONE
  }
}

function cacheOf(caches: Map<string, Takers>, network: string): Takers {
  let cache = caches.get(network)
  if (cache === undefined) caches.set(network, (cache = new BoundedCache(KEPT, { ttl: LIVES })))
  return cache
}
