/** A connection that stays, a socket or an event stream, among those that its caller may hold. */
import type { Caller } from '../call/caller.ts'
import { holderOf } from '../call/caller.ts'
import type { Holdings } from '../ports/holdings.ts'
import type { MaybePromise } from '../ports/maybe-promise.ts'
import { refuse } from '../refusal/refusal.ts'
import type { Refusal } from '../refusal/refusal.ts'

/** One that was taken. */
export class Place {
  readonly #holdings: Holdings
  readonly #holder: string
  #isHeld = true

  constructor(holdings: Holdings, holder: string) {
    this.#holdings = holdings
    this.#holder = holder
  }

  get isHeld(): boolean {
    return this.#isHeld
  }

  /** Gives it back, once. */
  free(): void {
    if (this.#isHeld) this.#holdings.free(this.#holder)
    this.#isHeld = false
  }
}

/** Takes one for a caller, or refuses. */
export function takePlace(holdings: Holdings, caller: Caller): MaybePromise<Place | Refusal> {
  const holder = holderOf(caller)
  const limit = caller.plan.ws.connections
  const settle = (isTaken: boolean): Place | Refusal =>
    isTaken ? new Place(holdings, holder) : refuse('too_many_connections', undefined, { limit })
  const taking = holdings.take(holder, limit)
  return taking instanceof Promise ? taking.then(settle) : settle(taking)
}
