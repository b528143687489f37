/**
 * The pauses of a route. A complaint that was read from a text pauses it for the caller whose call drew it: the text may be the
 * caller's own words. It holds for everybody once two callers drew one, or the HTTP status or a probe says the same.
 */
import { ByCaller, SPEAK_FOR_ALL } from './by-caller.ts'
import { Pause } from './pause.ts'
import type { Complaint } from './pause.ts'

/** A complaint of an upstream. */
export interface Complained {
  readonly about: Complaint
  /** Milliseconds of pause that the upstream asked for; 0 when it did not say. */
  readonly asked: number
  /** `status`: the HTTP status says so. `text`: it was read from a body. */
  readonly from: 'status' | 'text'
}

/** A probe of ours, as the one who drew a complaint. */
const PROBE = Symbol('probe')

/** Active or not by caller. Times are in milliseconds of a monotonic clock. */
export class RoutePauses {
  readonly #pauses = new ByCaller(() => new Pause())
  /**
   * Who drew an HTTP 429 in the pause for everybody; two at most. It is the upstream's own wish, and holds for the last route too, but
   * only for these callers until a second one has drawn it: some providers answer 429 to one method, or to one wide call.
   */
  readonly #told = new Set<string | typeof PROBE>()

  /** Whether calls of this caller stay away; without one everybody's. */
  isActive(now: number, caller?: string): boolean {
    if (this.#pauses.everybody.isActive(now)) return true
    return caller !== undefined && this.#pauses.of(caller)?.isActive(now) === true
  }

  /** Whether this caller leaves even the last route able to serve alone; without one everybody. */
  isBinding(now: number, caller?: string): boolean {
    const told = this.#told
    if (told.size === 0 || !this.#pauses.everybody.isActive(now)) return false
    return told.size >= SPEAK_FOR_ALL || told.has(PROBE) || (caller !== undefined && told.has(caller))
  }

  /** Milliseconds left of everybody's, and what it is about. */
  left(now: number): number {
    return this.#pauses.everybody.left(now)
  }

  get about(): Complaint {
    return this.#pauses.everybody.why
  }

  /** Callers that are kept away while others are served. */
  keptAway(now: number): number {
    return this.#pauses.count(pause => pause.isActive(now))
  }

  /** Takes in what a call of this caller drew; without one a probe of ours. */
  complain({ about, asked, from }: Complained, now: number, caller?: string): void {
    const { everybody } = this.#pauses
    if (caller !== undefined && from === 'text') {
      this.#pauses.make(caller).begin(asked, about, now)
      if (this.keptAway(now) < SPEAK_FOR_ALL) return
    }
    if (!everybody.isActive(now)) this.#told.clear()
    if (about === 'limited' && from === 'status' && this.#told.size < SPEAK_FOR_ALL)
      this.#told.add(caller ?? PROBE)
    everybody.begin(asked, about, now)
  }
}
