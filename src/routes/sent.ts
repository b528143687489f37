/** Which routes have taken a transaction: until the network has heard of it, others know nothing of it. */
import { FairCache } from '../limits/fair-cache.ts'
import type { Clock } from '../ports/clock.ts'

/** Transactions that are remembered of a network, and for how many milliseconds. */
const KEPT = 20_000
const LIVES = 60_000
/** Senders remembered for one transaction; for further ones it is not their last. */
const READERS = 16

const NONE: readonly string[] = []

/** What is remembered of one network. */
interface Remembered {
  /** By hash. */
  readonly taken: FairCache<Taken>
  /** The last transaction of each reader, and when it was taken for that reader. */
  readonly lastOf: FairCache<{ readonly taken: Taken; readonly at: number }>
}

/** The routes that have taken a transaction, the first to do so first. */
interface Taken {
  /** Whether its hash was compared with its bytes. */
  readonly isProven: boolean
  takers: readonly string[]
  /** Who has sent it. */
  readonly readers: string[]
}

/** A transaction that a route has taken. */
export interface SentNews {
  readonly network: string
  /** The digits of its hash, in lower case. */
  readonly hash: string
  /** Whose call it was: the endpoint, or on the public route the address. */
  readonly reader: string
  /** Out of whose share it is remembered: the account, or on the public route the address. */
  readonly holder: string
  readonly route: string
  /** Whether the hash is that of the bytes that were sent. Absent where nobody had to know. */
  readonly isProven?: boolean
}

/** Transactions that went through this machine, by network. Nothing is made of a network without any. */
export class Sent {
  readonly #clock: Pick<Clock, 'monotonic'>
  readonly #networks = new Map<string, Remembered>()
  #listener: (news: SentNews) => void = () => undefined

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock
  }

  /** Calls `listener` when a route takes a transaction for a client of this process. */
  whenTaken(listener: (news: SentNews) => void): void {
    this.#listener = listener
  }

  /** A route says that it has taken a transaction; `isProven` tells whether the hash is that of what was sent. */
  add(news: SentNews, isProven = (): boolean => news.isProven === true): void {
    const taken = this.#take(news, isProven)
    if (taken !== null) this.#listener({ ...news, isProven: taken.isProven })
  }

  /** Takes in what another process of this machine has sent. */
  takeIn(news: SentNews): void {
    this.#take(news, () => news.isProven === true)
  }

  /** What is new; null where nothing is. */
  #take(
    { network, hash, reader, route, holder, isProven: wasProven = false }: SentNews,
    isProven: () => boolean,
  ): Taken | null {
    const now = this.#clock.monotonic()
    let known = this.#networks.get(network)
    if (known === undefined) this.#networks.set(network, (known = nothing()))
    const before = known.taken.get(hash, now)
    if (before?.takers.includes(route) === true) return makeLast(known, before, reader, holder, now)
    // A second one is believed only where the hash shows it: else a node could claim what it never had.
    const isSure = before !== undefined && isProven()
    if (before !== undefined && !isSure) return null
    if (before?.isProven === true) {
      before.takers = [...before.takers, route]
      makeLast(known, before, reader, holder, now)
      return before
    }
    // The one who said so before is not known to have it.
    const taken: Taken = { takers: [route], isProven: wasProven || isSure, readers: [] }
    known.taken.add(hash, taken, holder, now)
    return makeLast(known, taken, reader, holder, now)
  }

  /** Whether any transaction of the network is remembered, or was. */
  any(network: string): boolean {
    return this.#networks.has(network)
  }

  /** The routes that took a transaction, the first to do so first. */
  takers(network: string, hash: string): readonly string[] {
    return this.#networks.get(network)?.taken.get(hash, this.#clock.monotonic())?.takers ?? NONE
  }

  /** When a route has taken the last transaction of a reader; -Infinity where none is remembered. */
  lastAt(network: string, reader: string): number {
    return this.#networks.get(network)?.lastOf.get(reader, this.#clock.monotonic())?.at ?? -Infinity
  }

  /** Those that took the last transaction of a reader, and so know its newest nonce. */
  lastOf(network: string, reader: string): readonly string[] {
    return this.#networks.get(network)?.lastOf.get(reader, this.#clock.monotonic())?.taken.takers ?? NONE
  }
}

/** Makes it the reader's last transaction, or returns null if the reader sent it before: a late route may not know what was sent since. */
function makeLast(
  { lastOf }: Remembered,
  taken: Taken,
  reader: string,
  holder: string,
  now: number,
): Taken | null {
  if (taken.readers.includes(reader) || taken.readers.length === READERS) return null
  taken.readers.push(reader)
  lastOf.add(reader, { taken, at: now }, holder, now)
  return taken
}

function nothing(): Remembered {
  return { taken: new FairCache(KEPT, LIVES), lastOf: new FairCache(KEPT, LIVES) }
}
