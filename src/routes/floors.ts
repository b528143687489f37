/** Consistency floors: what each endpoint has seen of a network, and what the other processes of this machine have shown of it. */
import { BoundedCache } from '../limits/bounded-cache.ts'
import { settledFrom } from '../families/height-kind.ts'
import type { HeightKind } from '../families/height-kind.ts'

/** Endpoints remembered of a network. */
const KEPT = 20_000
/** Milliseconds after which a floor expires. */
const EXPIRES_AFTER = 5_000
/** The same for settled blocks: on Ethereum they move once in 6.4 minutes. */
const SETTLED_EXPIRES_AFTER = 900_000

function expiry(scale: HeightKind): number {
  return scale === 'safe' || scale === 'finalized' ? SETTLED_EXPIRES_AFTER : EXPIRES_AFTER
}

/** A block, and when it was shown. */
interface Shown {
  readonly head: number
  readonly at: number
}

/** The highest block of each network and scale, as long as a floor lasts. */
class Highest {
  readonly #heads = new Map<string, Map<HeightKind, Shown>>()
  readonly #now: () => number

  constructor(now: () => number) {
    this.#now = now
  }

  /** -1 when there is none. */
  of(network: string, scale: HeightKind): number {
    const last = this.#heads.get(network)?.get(scale)
    return last === undefined || this.#now() - last.at >= expiry(scale) ? -1 : last.head
  }

  set(network: string, scale: HeightKind, head: number): void {
    let scales = this.#heads.get(network)
    if (scales === undefined) this.#heads.set(network, (scales = new Map<HeightKind, Shown>()))
    scales.set(scale, { head, at: this.#now() })
  }
}

/** Newest blocks shown, by endpoint, network and scale. */
export class Floors {
  /** By network and scale; made with the first block shown there. */
  readonly #shown = new Map<string, Map<HeightKind, BoundedCache<number>>>()
  /** What this process has shown anybody, and what others have. */
  readonly #own: Highest
  readonly #others: Highest
  #risen: (network: string, scale: HeightKind, head: number, route: string | null) => void = () => undefined

  /** `now` is a monotonic clock in milliseconds. */
  constructor(now = (): number => performance.now()) {
    this.#own = new Highest(now)
    this.#others = new Highest(now)
  }

  /**
   * Calls `listener` when a block is shown that is newer than any that this process or another one has shown within the time a floor
   * lasts.
   */
  whenRisen(
    listener: (network: string, scale: HeightKind, head: number, route: string | null) => void,
  ): void {
    this.#risen = listener
  }

  /** The block below which nothing should be served to `reader` now; null when there is none. */
  of(reader: string, network: string, scale: HeightKind = 'head'): number | null {
    const scales = this.#shown.get(network)
    let floor: number | null = null
    for (const other of settledFrom(scale)) {
      const head = Math.max(scales?.get(other)?.get(reader) ?? -1, this.#others.of(network, other))
      if (head > (floor ?? -1)) floor = head
    }
    return floor
  }

  /** A block number was shown, by a route where one is known. */
  show(
    reader: string,
    network: string,
    head: number,
    scale: HeightKind = 'head',
    route: string | null = null,
  ): void {
    let scales = this.#shown.get(network)
    if (scales === undefined) this.#shown.set(network, (scales = new Map<HeightKind, BoundedCache<number>>()))
    let readers = scales.get(scale)
    if (readers === undefined) scales.set(scale, (readers = new BoundedCache(KEPT, { ttl: expiry(scale) })))
    if (head >= (readers.get(reader) ?? 0)) readers.set(reader, head)
    if (head <= this.#own.of(network, scale)) return
    this.#own.set(network, scale, head)
    if (head > this.#others.of(network, scale)) this.#risen(network, scale, head, route)
  }

  /** Another process has shown a block: it is a floor for every reader of the network. No listener hears of it. */
  raise(network: string, scale: HeightKind, head: number): void {
    if (head >= this.#others.of(network, scale)) this.#others.set(network, scale, head)
  }
}
