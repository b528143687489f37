/**
 * The pauses of a route. A complaint pauses it for the caller whose call drew it, be it a text or an HTTP status: the upstream may mean the
 * params of that call. Everybody stays away when a probe of the gateway draws one too.
 */
import { ByCaller } from './by-caller.ts'
import { QUIET } from './pace.ts'
import type { Pace } from './pace.ts'

/** A complaint of an upstream. */
export interface Complained {
  readonly about: Complaint
  /** Milliseconds of pause that the upstream asked for; 0 when it did not say. */
  readonly asked: number
  /** `status`: the HTTP status says so. `text`: it was read from a body. */
  readonly from: 'status' | 'text'
}

/** A probe of ours, as the one who drew a complaint. */
const PROBE = null

/** Milliseconds by which a pause has to grow for its listener to hear of it again: calls in flight complain one behind the other. */
const WORTH_REPORTING = 250

/** A pause, as one process tells another; milliseconds. */
export interface PauseReport {
  readonly about: Complaint
  readonly left: number
  /** How long it was from its begin, which the next one depends on. */
  readonly length: number
  /** Whose calls drew it, and so stay away; null is a probe: everybody. */
  readonly drawnBy: readonly (string | null)[]
  /** Whether an HTTP 429 was among them. */
  readonly isBinding: boolean
  /** Calls that the route bore in the second before, as far as that is known: what draws a 429 behind the first one was not borne. */
  readonly borne: number
}

/** Active or not by caller. Times are in milliseconds of a monotonic clock. */
export class RoutePauses {
  readonly #pauses: ByCaller<Pause>
  readonly #pace: Pick<Pace, 'slow' | 'takeIn' | 'borne'> | null
  #listener: (pause: PauseReport) => void = () => undefined

  /** `pace` hears of each HTTP 429. */
  constructor(pace: Pick<Pace, 'slow' | 'takeIn' | 'borne'> | null = null, random = Math.random) {
    this.#pace = pace
    this.#pauses = new ByCaller(() => new Pause(random))
  }

  /** Calls `listener` when a probe or an HTTP status here has begun a pause, or made it longer. */
  whenBegun(listener: (pause: PauseReport) => void): void {
    this.#listener = listener
  }

  /** Whether calls of this caller stay away; without one everybody's. */
  isActive(now: number, caller?: string): boolean {
    if (this.#pauses.everybody.isActive(now)) return true
    return caller !== undefined && this.#pauses.of(caller)?.isActive(now) === true
  }

  /**
   * Whether this caller leaves even the last route able to serve alone, as HTTP 429 is the upstream's own wish; without a caller
   * everybody.
   */
  isBinding(now: number, caller?: string): boolean {
    if (this.#pauses.everybody.isBinding(now)) return true
    return caller !== undefined && this.#pauses.of(caller)?.isBinding(now) === true
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
    const pause = caller === undefined ? this.#pauses.everybody : this.#pauses.make(caller)
    const drawnBy = caller ?? PROBE
    const isBinding = about === 'limited' && from === 'status'
    pause.begin(asked, about, now, isBinding)
    if (isBinding) this.#pace?.slow(drawnBy, now, now + pause.left(now))
    // A text is the least sure word: each process hears it for itself.
    if (caller !== undefined && from === 'text') return
    if (pause.isReported(now, this.#borne)) return
    pause.noteReported(now, this.#borne)
    this.#listener(this.#reportOf(pause, drawnBy, now))
  }

  /** The pause of everybody, for another process; null when there is none. */
  report(now: number): PauseReport | null {
    const { everybody } = this.#pauses
    return everybody.isActive(now) ? this.#reportOf(everybody, PROBE, now) : null
  }

  #reportOf(pause: Pause, drawnBy: string | null, now: number): PauseReport {
    const { why: about, length } = pause
    // Where probes are sent for several processes, no calls are: what was borne is unknown there.
    const borne = drawnBy === PROBE ? 0 : this.#borne
    return {
      about,
      left: pause.left(now),
      length,
      drawnBy: [drawnBy],
      isBinding: pause.isBinding(now),
      borne,
    }
  }

  get #borne(): number {
    return Math.max(0, this.#pace?.borne ?? 0)
  }

  /** Takes in a pause that another process has begun; the listener hears nothing of it. */
  takeIn({ about, left, length, drawnBy, isBinding, borne }: PauseReport, now: number): void {
    const until = now + left
    for (const caller of drawnBy) {
      const pause = caller === PROBE ? this.#pauses.everybody : this.#pauses.make(caller)
      pause.extend(until, length, about, now, isBinding)
      pause.noteReported(now, 0)
    }
    if (isBinding) this.#pace?.takeIn(drawnBy, borne, now, until)
  }
}

/**
 * A pause that an upstream asked for, or that its complaint about the operator's standing calls for. Complaints one behind the other
 * make it longer: 1, 2, 4 … 60 s, and 1 s again after a quiet minute, each up to a fifth longer or shorter by chance, or all gateways that
 * share a key would be back at the same moment. Times are in milliseconds of a monotonic clock.
 */

const FIRST = 1_000
/** The longest pause, also where the upstream asks for more. */
const LONGEST = 60_000
/** Share by which chance makes one longer or shorter. */
const SPREAD = 0.2

/** What an upstream complained about: its limit on requests, or the operator's key, plan or credit. */
export type Complaint = 'limited' | 'billing'

/** One pause. */
export class Pause {
  #until = 0
  #length = 0
  #quietAt = 0
  /** Whether an HTTP 429 was drawn in the one that lasts. */
  #hasStatus = false
  /** When the pause ends that other processes know of, and what they were told that was borne before it. */
  #reportedUntil = -Infinity
  #reportedBorne = 0
  readonly #random: () => number
  /** The complaint that began it. */
  why: Complaint = 'limited'

  /** `random` is from 0 to 1. */
  constructor(random = Math.random) {
    this.#random = random
  }

  isActive(now: number): boolean {
    return now < this.#until
  }

  /** Whether it holds for the last route too. */
  isBinding(now: number): boolean {
    return this.#hasStatus && this.isActive(now)
  }

  /** Whether other processes know of it as it is now, about. */
  isReported(now: number, borne: number): boolean {
    const until = now + this.left(now)
    return until < this.#reportedUntil + WORTH_REPORTING && borne >= this.#reportedBorne / 2
  }

  noteReported(now: number, borne: number): void {
    this.#reportedUntil = Math.max(this.#reportedUntil, now + this.left(now))
    this.#reportedBorne = borne
  }

  /** Milliseconds that are left. */
  left(now: number): number {
    return Math.max(0, this.#until - now)
  }

  /** How long the last one was, without chance and what its upstream asked for: the next one follows on it. */
  get length(): number {
    return this.#length
  }

  /** Lasts until then at least; the next one follows on one of that length. */
  extend(until: number, length: number, why: Complaint, now: number, isBinding = false): void {
    this.#hasStatus = isBinding || this.isBinding(now)
    if (until > this.#until) this.why = why
    this.#length = now < this.#quietAt ? Math.max(this.#length, length) : length
    this.#until = Math.max(this.#until, until)
    this.#quietAt = this.#until + QUIET
  }

  /** `asked` is how long the upstream wants to be left alone, 0 when it did not say. */
  begin(asked: number, why: Complaint, now: number, isBinding = false): void {
    this.#hasStatus = isBinding || this.isBinding(now)
    // Calls that were in flight when it began complain as well; they do not lengthen it.
    const isNew = !this.isActive(now)
    if (isNew) this.#length = this.#next(why, now)
    const least = isNew ? this.#drawn(why) : 0
    const until = Math.max(this.#until, now + Math.max(least, Math.min(asked, LONGEST)))
    if (until > this.#until) this.why = why
    this.#until = until
    this.#quietAt = until + QUIET
  }

  #drawn(why: Complaint): number {
    if (why === 'billing') return this.#length
    return Math.round(this.#length * (1 - SPREAD + 2 * SPREAD * this.#random()))
  }

  #next(why: Complaint, now: number): number {
    if (why === 'billing') return LONGEST
    return this.#length === 0 || now >= this.#quietAt ? FIRST : Math.min(this.#length * 2, LONGEST)
  }
}

/** Milliseconds of a Retry-After header: seconds or an HTTP date (RFC 9110, section 10.2.3); 0 when it says nothing. `now` is wall time. */
export function retryAfterMs(header: string | null, now: number): number {
  if (header === null) return 0
  if (/^\d+$/.test(header)) return Number(header) * 1000
  const at = Date.parse(header)
  return Number.isNaN(at) ? 0 : Math.max(0, at - now)
}
