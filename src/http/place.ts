/** Connections that stay, sockets and event streams: each takes one of the connections that its caller's plan allows. */
import type { Caller } from '../call/caller.ts'
import { holderOf } from '../call/caller.ts'
import type { Holdings } from '../ports/holdings.ts'
import type { MaybePromise } from '../ports/maybe-promise.ts'
import { refuse } from '../refusal/refusal.ts'
import type { Refusal } from '../refusal/refusal.ts'

/** An open connection. */
export interface StayingConnection {
  /** Its caller as of now; null when it may not stay. */
  readonly caller: Caller | null
  /** Closes it because its plan allows fewer. */
  closeSurplus(): void
}

/** One connection of its holder. */
export class Place {
  readonly #holdings: Holdings
  readonly #holder: string
  readonly #onFree: () => void
  #isHeld = true

  constructor(holdings: Holdings, holder: string, onFree: () => void = () => undefined) {
    this.#holdings = holdings
    this.#holder = holder
    this.#onFree = onFree
  }

  get isHeld(): boolean {
    return this.#isHeld
  }

  /** Releases it, once. */
  free(): void {
    if (!this.#isHeld) return
    this.#isHeld = false
    this.#holdings.free(this.#holder)
    this.#onFree()
  }
}

/** The places of one listener. */
export class Places {
  readonly #holdings: Holdings
  /** Oldest first. */
  readonly #open = new Map<Place, StayingConnection>()

  constructor(holdings: Holdings) {
    this.#holdings = holdings
  }

  /** Takes one for a caller, or refuses. */
  take(caller: Caller): MaybePromise<Place | Refusal> {
    const holder = holderOf(caller)
    const limit = caller.plan.ws.connections
    const settle = (isTaken: boolean): Place | Refusal => {
      if (!isTaken) return refuse('too_many_connections', undefined, { limit })
      const place: Place = new Place(this.#holdings, holder, () => this.#open.delete(place))
      return place
    }
    const taking = this.#holdings.take(holder, limit)
    return taking instanceof Promise ? taking.then(settle) : settle(taking)
  }

  /** The connection of a place is open. */
  opened(place: Place, connection: StayingConnection): void {
    if (place.isHeld) this.#open.set(place, connection)
  }

  /** Closes the newest connections above a smaller limit, and returns whether some holder has more than it may. */
  async closeSurplus(): Promise<boolean> {
    const parts = await partsOf(this.#open.values(), ({ caller }) => caller, this.#part)
    for (const [place, connection] of [...this.#open]) {
      if (connection.caller === null || takeFrom(parts, holderOf(connection.caller), 1)) continue
      connection.closeSurplus()
      place.free()
    }
    return isAbove(parts)
  }

  readonly #part = (holder: string, { plan }: Caller): MaybePromise<number> =>
    this.#holdings.part(holder, plan.ws.connections)
}

/** How many each holder may keep in this process; Infinity where it has no more than it may. */
export async function partsOf<T>(
  all: Iterable<T>,
  callerOf: (one: T) => Caller | null,
  partOf: (holder: string, caller: Caller) => MaybePromise<number>,
): Promise<Map<string, number>> {
  const parts = new Map<string, MaybePromise<number>>()
  for (const one of all) {
    const caller = callerOf(one)
    if (caller === null) continue
    const holder = holderOf(caller)
    if (!parts.has(holder)) parts.set(holder, partOf(holder, caller))
  }
  return new Map(await Promise.all([...parts].map(async ([holder, part]) => [holder, await part] as const)))
}

/** Takes `count` from a holder's part; false when there is less left. */
export function takeFrom(parts: Map<string, number>, holder: string, count: number): boolean {
  const left = (parts.get(holder) ?? Infinity) - count
  parts.set(holder, left)
  return left >= 0
}

export function isAbove(parts: ReadonlyMap<string, number>): boolean {
  return [...parts.values()].some(part => part !== Infinity)
}
