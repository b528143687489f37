/** The calls that are under way to the nodes and may be joined, by the bytes that ask for them. */
import type { Raw } from '../../jsonrpc/raw.ts'
import type { MethodRow } from '../../snapshot/types.ts'
import { Flight } from './flight.ts'
import type { FlightKey, Passenger } from './flight.ts'
import { RowTraffic } from './row-traffic.ts'

/** A power of two. */
const CHAINS = 1_024
/** Flights of one chain; what does not fit is not shared, so that nobody can make others search for long. */
const LONGEST = 16
/** Characters of the params that the hash is made of. */
const SAMPLES = 64

/**
 * The flights in chains by a cheap hash; keys are compared whole. Not a Map: it would hash each key whole, and the hash tables that a busy one leaves
 * behind keep each other alive until the next full collection (`bench/flights.ts` measures both).
 */
export class Flights {
  readonly #chains: (Flight | null)[] = Array.from({ length: CHAINS }, () => null)
  /** Of the rows of each snapshot. */
  readonly #rows = new WeakMap<MethodRow, RowTraffic>()

  /** What is known of a row's calls. */
  of(row: MethodRow): RowTraffic {
    let traffic = this.#rows.get(row)
    if (traffic === undefined) this.#rows.set(row, (traffic = new RowTraffic()))
    return traffic
  }

  /** A flight of equal calls that fits. */
  find(key: FlightKey, fits: (flight: Flight) => boolean): Flight | null {
    let flight = this.#chains[key.hash % CHAINS] ?? null
    while (flight !== null) {
      if (isSame(flight.key, key) && fits(flight)) return flight
      flight = flight.next
    }
    return null
  }

  /** Begins a flight, which `end` ends; null where there is no place for it. */
  begin(key: FlightKey, leader: Passenger, known: number | null): Flight | null {
    const at = key.hash % CHAINS
    const first = this.#chains[at] ?? null
    let length = 1
    for (let each: Flight | null = first; each !== null; each = each.next) length += 1
    if (length > LONGEST) return null
    const flight = new Flight(key, leader, known)
    flight.next = first
    this.#chains[at] = flight
    return flight
  }

  /** Nobody joins it any more. */
  end(flight: Flight): void {
    const at = flight.key.hash % CHAINS
    const first = this.#chains[at] ?? null
    if (first === flight) this.#chains[at] = flight.next
    else {
      let before: Flight | null = first
      while (before !== null && before.next !== flight) before = before.next
      if (before !== null) before.next = flight.next
    }
    flight.next = null
  }
}

/** The key of a call; `params` are those without white space. */
export function flightKey(row: RowTraffic, method: string, params: Raw): FlightKey {
  return { row, method, params, hash: hashOf(params, row.seed) }
}

function isSame(a: FlightKey, b: FlightKey): boolean {
  return a.hash === b.hash && a.row === b.row && a.method === b.method && a.params === b.params
}

/** FNV-1a over some of the characters: all of short params, which differ in one. */
function hashOf(params: Raw, seed: number): number {
  const { length } = params
  const step = Math.ceil(length / SAMPLES)
  let hash = seed ^ length
  for (let at = 0; at < length; at += step) hash = Math.imul(hash ^ params.charCodeAt(at), 0x01000193)
  return (hash ^ (hash >>> 15)) >>> 0
}
