/** The calls that are under way to the nodes and may be joined, by the bytes that ask for them. */
import { randomInt } from 'node:crypto'
import type { Raw } from '../../jsonrpc/raw.ts'
import type { MethodRow } from '../../snapshot/types.ts'
import { Flight } from './flight.ts'
import type { FlightKey, Passenger } from './flight.ts'

/** A power of two. */
const CHAINS = 1_024
/** Flights of one chain; what does not fit is not shared, so that nobody can make others search for long. */
const LONGEST = 16
/** Characters of the params that the hash is made of. */
const SAMPLES = 32

/**
 * The flights in chains by a cheap hash; keys are compared whole. Not a Map: the hash tables that a busy one leaves behind keep each other alive, and
 * with them every message they held, until the next full collection.
 */
export class Flights {
  readonly #chains: (Flight | null)[] = Array.from({ length: CHAINS }, () => null)
  /** A number of each row, which nobody outside knows. */
  readonly #seeds = new WeakMap<MethodRow, number>()

  /** The key of a call; `params` are those without white space. */
  keyOf(row: MethodRow, method: string, params: Raw): FlightKey {
    return { row, method, params, hash: hashOf(params, this.#seedOf(row)) }
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

  #seedOf(row: MethodRow): number {
    let seed = this.#seeds.get(row)
    if (seed === undefined) this.#seeds.set(row, (seed = randomInt(2 ** 32)))
    return seed
  }
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
