/** Which routes have given out a blockhash: a node that has not seen it yet refuses what is signed with it. */
import { BoundedCache } from '../limits/bounded-cache.ts'
import type { Commitment } from './height-kind.ts'

/** Blockhashes remembered, and milliseconds: a transaction may be sent for 150 blocks after its blockhash. */
const KEPT = 20_000
const LIVES = 150_000

/** Where a blockhash is known. */
export interface KnownAt {
  readonly routes: readonly string[]
  /** The slot at which it was first given out, and how settled that was. */
  readonly slot: number | null
  readonly commitment: Commitment
}

/** Blockhashes that clients were given, by network. */
export class Blockhashes {
  readonly #known = new BoundedCache<KnownAt>(KEPT, { ttl: LIVES })

  /** A route has given out a blockhash. */
  add(network: string, blockhash: string, given: Omit<KnownAt, 'routes'> & { readonly route: string }): void {
    const { route, slot, commitment } = given
    const key = `${network} ${blockhash}`
    const known = this.#known.get(key)
    if (known?.routes.includes(route) === true) return
    this.#known.set(key, {
      routes: [...(known?.routes ?? []), route],
      slot: known?.slot ?? slot,
      commitment: known?.commitment ?? commitment,
    })
  }

  /** Where it is known; null when none of our routes gave it out. */
  find(network: string, blockhash: string): KnownAt | null {
    return this.#known.get(`${network} ${blockhash}`) ?? null
  }
}
