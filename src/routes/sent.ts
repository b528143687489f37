/** Which routes have taken a transaction: until the network has heard of it, others know nothing of it. */
import { BoundedCache } from '../limits/bounded-cache.ts'

/** Transactions, and readers who sent some, that are remembered of a network, and milliseconds. */
const KEPT = 20_000
const LIVES = 60_000

const NONE: readonly string[] = []

/** What is remembered of one network. */
interface Remembered {
  readonly takers: BoundedCache<readonly string[]>
  /** The last transaction of each reader, and when it was taken. */
  readonly lastOf: BoundedCache<{ readonly hash: string; readonly at: number }>
}

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
  readonly #networks = new Map<string, Remembered>()
  readonly #now: () => number
  #listener: (news: SentNews) => void = () => undefined

  /** `now` is a monotonic clock in milliseconds. */
  constructor(now = (): number => performance.now()) {
    this.#now = now
  }

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
    let known = this.#networks.get(network)
    if (known === undefined) this.#networks.set(network, (known = nothing()))
    const takers = known.takers.get(hash) ?? NONE
    if (takers.includes(route)) return false
    known.takers.set(hash, [...takers, route])
    // A route that is late to take a transaction may not have heard of what the reader has sent since.
    if (takers.length === 0) known.lastOf.set(reader, { hash, at: this.#now() })
    return true
  }

  /** Whether any transaction of the network is remembered, or was. */
  any(network: string): boolean {
    return this.#networks.has(network)
  }

  /** The routes that took a transaction, the first to do so first. */
  takers(network: string, hash: string): readonly string[] {
    return this.#networks.get(network)?.takers.get(hash) ?? NONE
  }

  /** When a route has taken the last transaction of a reader; -Infinity where none is remembered. */
  lastAt(network: string, reader: string): number {
    return this.#networks.get(network)?.lastOf.get(reader)?.at ?? -Infinity
  }

  /** Those that took the last transaction of a reader, and so know its newest nonce. */
  lastOf(network: string, reader: string): readonly string[] {
    const last = this.#networks.get(network)?.lastOf.get(reader)
    return last === undefined ? NONE : this.takers(network, last.hash)
  }
}

function nothing(): Remembered {
  return {
    takers: new BoundedCache(KEPT, { ttl: LIVES }),
    lastOf: new BoundedCache(KEPT, { ttl: LIVES }),
  }
}
